# frozen_string_literal: true

require 'timeout'

module Simpkv
  class Adapter
    # Says what to do about a call that failed because its key or folder is missing, or is of the other kind. It
    # searches, as the same identity, for names that the caller may have meant, in the environment of the call and among
    # the global keys. If a search fails or takes long, the message stays as it is, and this catalog makes no further
    # search.
    class Advice
      # The time for the names of a failed call, in seconds.
      SECONDS = 1

      # The number of failed calls of a catalog for which names are looked up. With `softfail`, there may be many.
      CALLS = 10

      # Names of a folder that are compared, at most.
      NAMES = 1000

      IS_FOLDER = Hash.new('choose another name for the key').merge!(
        get: 'simpkv::list reads the keys in it', delete: 'simpkv::deletetree deletes it'
      ).freeze
      MISSING = Hash.new("To get an empty result instead of this error, set 'missing' to 'empty'").merge!(
        get: "To get a value of your choice instead of this error, set 'default'", secret: nil
      ).freeze
      private_constant :SECONDS, :CALLS, :NAMES, :IS_FOLDER, :MISSING

      # @param error [Error] of the backend
      # @param operation [Symbol] on a key or a folder
      # @return [String] the advice on a folder in place of a key, or a key in place of a folder; empty for other errors
      def self.of_kind(error, operation)
        case error
        when IsFolderError then ": #{IS_FOLDER[operation]}"
        when IsKeyError then operation == :deletetree ? ': simpkv::delete deletes it' : ''
        else ''
        end
      end

      def initialize
        @left = CALLS
      end

      # @param error [Error] of the backend
      # @param operation [Symbol]
      # @param key [String] the key or folder of the call
      # @param options [Hash] merged options
      # @yieldreturn [ConfiguredBackend] the backend of the call
      # @return [String] the end of the message; empty if there is no advice
      def on(error, operation, key, options)
        return self.class.of_kind(error, operation) unless error.is_a?(NotFoundError) && error.key

        ['', *meant(key, options, yield), *MISSING[operation]].join('. ')
      end

      private

      # @return [Array<String>] sentences about names that the caller may have meant
      def meant(key, options, backend)
        return [] unless backend.native? && @left.positive?

        @left -= 1
        deadline = Deadline.new(SECONDS * 1000)
        Timeout.timeout(SECONDS) do
          [similar(backend.store, Config.prefix(options), key, deadline),
           elsewhere(backend.store, key, options, deadline)].compact
        end
      rescue StandardError
        @left = 0
        []
      end

      # Compares the name with those in its folder. If that folder is missing, compares the folder with those beside it.
      def similar(store, root, key, deadline)
        *folders, name = key.split('/').reject(&:empty?)
        until name.nil? || root == 'environments'
          listed = ChosenDocuments.none(store, [root, *folders].join('/'), required: false, deadline: deadline)
          names = listed[:keys].keys + listed[:folders]
          return sentence([*folders, name].join('/'), listed[:keys].key?(name), names) if names.any? || folders.empty?

          name = folders.pop
        end
      end

      def sentence(missing, key, names)
        return "'#{missing}' is a key, not a folder" if key

        *folders, name = missing.split('/')
        likely = Spelling.nearest(name, comparable(names, name)) if name.length > 2
        "There is no '#{missing}', but '#{[*folders, likely].join('/')}'" if likely
      end

      # @return [Array<String>] the names that could be meant, without those that no key can have
      def comparable(names, name)
        near = names.select { |each| (each.length - name.length).abs <= name.length / 3 }
        near.first(NAMES).grep(/\A[A-Za-z0-9._:-]+\z/)
      end

      # Looks among the global keys, or if the call is for these, in the environment.
      def elsewhere(store, key, options, deadline)
        global = options['global']
        folder = Config.prefix(options.merge('global' => !global))
        return if folder == 'environments' || !store.exist?(Native.key_join(folder, key), deadline: deadline)
        return "The environment '#{options['environment']}' has this name: remove 'global'" if global

        "The global keys have this name: set 'global' to true"
      end
    end
  end
end
