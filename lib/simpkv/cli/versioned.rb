# frozen_string_literal: true

require 'simpkv/cli/value'

module Simpkv
  module Cli
    # The common part of commands that know expired keys and earlier values.
    module Versioned
      private

      def define_expiry(parser)
        parser.on('--expires-after DURATION', 'the value expires after that time, such as 90d') do |text|
          @expires_after = converted_option('--expires-after', :lifetime, text)
        end
      end

      def define_history(parser)
        parser.on('--history N', "keep the last N values (the backend's option history)") do |text|
          @history = converted_option('--history', 0..100, text)
        end
      end

      # @param store [Store]
      # @return [Store, VersionedStore] the store for documents that replace others
      def versioned(store)
        history = @history || backend.settings['history']
        versioned = VersionedStore.new(store, history: history, expires_after: @expires_after)
        versioned.plain? ? store : versioned
      end

      # Makes the document that replaces the stored one. Without --history, keeps as many earlier values as the backend
      # does, or as the stored document has.
      #
      # @param document [String]
      # @param stored [String, nil]
      # @param expires [Time, nil] the time at which it expires; nil: as --expires-after says
      # @return [String, nil] nil if there is nothing to write
      def successor(document, stored, expires: nil)
        history = [backend.settings['history'].to_i, stored ? Versions.count(stored) : 0].max
        history = nil if history.zero?
        Versions.successor(document, stored, history: @history || history, expires: expires,
                                             expires_after: (@expires_after unless expires))
      end

      # @param document [String, nil]
      # @return [String, nil] the document; nil for none, and for one that has expired
      def live(document)
        document unless document.nil? || Versions.expired?(document)
      end

      # @param stored [String]
      # @param number [Integer] 0 or less
      # @return [String] the document of that version
      # @raise [NotFoundError] there is none
      def version(stored, number)
        Versions.version(stored, number) ||
          raise(NotFoundError, "there is no version #{number}: the key has " \
                               "#{Output.count(Versions.count(stored), 'earlier value')}")
      end

      # Lists a folder without the keys that have expired.
      #
      # @param options [Hash{Symbol => Object}] for {Store#list}
      # @yieldparam name [String]
      # @yieldparam document [String]
      # @return [Hash] as {Store#list}
      def list_live(store, path, **options)
        expired = {}
        listing = store.list(path, **options) do |name, document|
          Value.expired?(document) ? expired[name] = true : yield(name, document)
        end
        listing.merge(keys: listing[:keys].reject { |name, _| expired.key?(name) })
      end

      # @param document [String]
      # @param remedy [String] for the message
      # @return [String] the document
      # @raise [NotFoundError] it has expired
      def check_expiry(document, remedy)
        return document unless Versions.expired?(document)

        raise NotFoundError, "it expired at #{Versions.text(Versions.expires(document))}: #{remedy}"
      end

      # Replaces a document, unless another client has done so meanwhile.
      #
      # @param path [String]
      # @param stored [String] the replaced document
      # @param document [String]
      # @param remedy [String] for the message
      # @return [Boolean] whether it was written
      # @raise [ConflictError]
      def swap(path, stored, document, remedy)
        backend.check_agreement([path])
        backend.store.put(path, document, condition: :expect, expect: stored)
      rescue ConflictError
        raise ConflictError, "another client has changed it meanwhile: nothing was stored; #{remedy}"
      end
    end
  end
end
