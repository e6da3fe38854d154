# frozen_string_literal: true

require 'simpkv/cli/walk'

module Simpkv
  module Cli
    # The keys that have encrypted the documents of backends.
    module EncryptionKeyUse
      class << self
        # Reads all documents as they are stored.
        #
        # @param store [EncryptedStore]
        # @param roots [Array<String>] paths of folders
        # @param errors [Hash{String => String}] filled with the keys that cannot be read, and why
        # @yieldparam path [String]
        # @yieldparam state [String, Symbol] see {EncryptedStore#state}
        # @yieldparam document [String] as it is stored
        # @return [void]
        def each(store, roots, errors)
          Walk.new(store.below).each(roots, errors) { |path, document| yield path, store.state(document), document }
        end

        # Counts the documents of all backends that a file of keys is for.
        #
        # @param configuration [Configuration]
        # @param file [EncryptionKeyFile]
        # @return [Array(Hash{String => Integer}, Array<String>, Array<String>)] by the name of a key, the number of
        #   documents; the titles of the backends; and why documents of others cannot be counted
        # @raise [Simpkv::Error, Simpkv::ConfigError]
        def count(configuration, file)
          counts = Hash.new(0)
          errors = {}
          unknown = []
          backends = backends_of(configuration, file) { |why| unknown << why }
          backends.each do |backend|
            # Perhaps it is not mounted.
            next unknown << "#{backend.title} has no folder '#{backend.place.path}'" unless backend.there?

            add(backend, counts, errors)
          end
          [counts, backends.map(&:title), unknown + errors.map { |path, why| "#{path}: #{why}" }]
        end

        private

        def add(backend, counts, errors)
          each(backend.store, Walk::ROOTS, errors) do |path, state, _|
            counts[state] += 1 if state.is_a?(String)
            errors[path] = 'its encrypted document is damaged, and may need any key' if state == :damaged
          end
        end

        # @yieldparam why [String] for a backend that the command cannot read
        # @return [Array<ChosenBackend>]
        def backends_of(configuration, file)
          named = configuration.options['backends'].select do |_, options|
            other = options['encryption_keys'] if options.is_a?(Hash)
            other.is_a?(String) && other.start_with?('/') && File.identical?(other, file.path)
          end
          backends = named.keys.map do |name|
            configuration.backend(name)
          rescue Configuration::PluginType
            yield "the backend '#{name}' is that of a plugin, which works in Puppet only"
            nil
          end
          backends.compact
        end
      end
    end
  end
end
