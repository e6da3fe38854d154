# frozen_string_literal: true

module Simpkv
  module Cli
    # What a target of a transfer would refuse to store, known before anything is stored. A directory keeps less than
    # files do.
    class Refusals
      # Every server accepts a request with two documents of this size, encrypted or not.
      ACCEPTED_BYTES = 64 << 10
      private_constant :ACCEPTED_BYTES

      # @param backend [ChosenBackend] the target
      def initialize(backend)
        @large = {}
        @settings = backend.settings if backend.ldap?
        @encrypts = !backend.raw? && backend.encrypted? && backend.settings['encrypt'] == 'all'
      end

      # @param path [String] of the source's key
      # @param document [String]
      # @return [String, nil] why no key can have the document; nil if it can
      def of_document(path, document)
        @large[path] = true if @settings && document.bytesize > ACCEPTED_BYTES
        return if @settings.nil? || @encrypts
        return 'the document is empty, which a directory does not keep' if document.empty?

        'the document is not UTF-8, as a directory requires' unless Value.utf8(document)
      end

      # @param plan [Transfer::Plan]
      # @return [Array<String>] the paths of keys to store that may exceed the server's limit, which only a write looks
      #   up
      def untried(plan)
        (plan.missing + plan.differing).select { |path| @large.key?(plan.targets[path]) }
      end

      # @param path [String] of a key
      # @return [String, nil] why there can be no such key; nil if there can
      def of_path(path)
        Native.dn_from_path(@settings['layout'].to_sym, :key, *@settings.values_at('base_dn', 'id'), path) if @settings
        nil
      rescue InvalidError, TooLargeError => e
        e.message
      end
    end
  end
end
