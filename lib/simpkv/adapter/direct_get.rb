# frozen_string_literal: true

module Simpkv
  class Adapter
    # Gets keys from a store of the core, which has no layer above it, with one set of options: one native call checks
    # the key, reads it and decodes it. The result is that of {Operations#get}.
    class DirectGet
      # @param operations [Operations]
      # @param backend [ConfiguredBackend]
      # @param options [Hash] merged options
      # @return [DirectGet, nil] nil if gets with these options take more steps
      def self.with(operations, backend, options)
        return unless backend.native? && backend.store.method(:get).owner == Store && backend.version.zero?

        folder = Config.prefix(options)
        new(operations, backend, folder, Config.case_sensitive?(options)) unless folder == 'environments'
      end

      def initialize(operations, backend, folder, upper)
        @operations = operations
        @backend = backend
        @store = backend.store
        @folder = folder
        @upper = upper
      end

      # @param key [String]
      # @return [Hash, nil] `{ value:, metadata: }`; nil if the key is refused: {Calls} says why
      # @raise [Error] the text names the backend and shows no value
      def get(key)
        found = @store.get_decoded(@folder, key, @upper)
        found.is_a?(String) ? @operations.chosen_version(@backend, key, found) : found
      rescue ConfigError
        raise
      rescue StandardError, SystemStackError => e
        raise @backend.failure(e), cause: nil
      end
    end
  end
end
