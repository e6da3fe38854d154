# frozen_string_literal: true

require 'simpkv/adapter'

module Simpkv
  module Kit
    # The keys of one backend and environment in the store of the example, or the global ones.
    class BackendView
      # The environment of an example without rspec-puppet.
      ENVIRONMENT = 'production'
      OPTIONS = %w[backend environment global].freeze
      private_constant :ENVIRONMENT, :OPTIONS

      # @param options [Object] what an example gives
      # @return [Hash{String => Object}]
      # @raise [ArgumentError] that is not a Hash
      def self.options(options)
        raise ArgumentError, 'the options must be a Hash, such as { global: true }' unless options.is_a?(Hash)

        options.transform_keys(&:to_s)
      end

      # @param example [Object] the example; its `environment`, if it has one, is that of rspec-puppet
      # @param options [Hash{String => Object}] `global`, `environment`, `backend`
      # @raise [ArgumentError, ConfigError] an option is unknown, or its value is invalid
      def initialize(example, options)
        unknown = options.keys - OPTIONS
        raise ArgumentError, "unknown option '#{unknown.first}': expected #{OPTIONS.join(', ')}" if unknown.any?

        @backend = (options['backend'] || 'default').to_s
        @prefix = Config.flag(options, 'global') ? globals(options) : prefix(options['environment'], example)
        @documents = Adapter::Documents.new
      end

      # Stores keys.
      #
      # @param entries [Hash{String => Object}] values by key; that of a key that ends in `/` is the Hash of its folder
      # @return [void]
      # @raise [ArgumentError] the entries of a folder are not a Hash, or a key is not a String, or see {#check_backend}
      def fill(entries, metadata)
        check(entries)
        check_backend
        entries.each do |key, value|
          path = path(key)
          next store.put(path, @documents.encode(value, metadata, false)) unless key.end_with?('/')

          raise ArgumentError, "the value of '#{key}' must be a Hash of its keys" unless value.is_a?(Hash)

          check(value)
          fill(value.transform_keys { |name| "#{key}#{name}" }, metadata)
          make_folder(path) if value.empty?
        end
      end

      # @return [void]
      # @raise [ArgumentError] see {Stores#name}
      def check_backend
        kit.name(@backend)
      end

      # @param key [String]
      # @return [Hash, nil] `{ value:, metadata: }`; nil if the key is missing, has expired, or is a folder
      # @raise [Error] the key is malformed, or its document is
      def entry(key)
        document = store.get(path(key), required: false)
        document && @documents.current(document)
      rescue IsFolderError
        nil
      end

      # @return [Boolean] whether there is a folder of that name
      def folder?(name)
        store.list(path(name))
        true
      rescue NotFoundError, IsKeyError
        false
      end

      # @return [String] where these keys are, for people
      def to_s
        @prefix == 'globals' ? 'the global keys' : "environment '#{@prefix.delete_prefix('environments/')}'"
      end

      # @return [Array<String>] all keys of the example, each with its place if it is another one than this
      def stored
        kit.names.flat_map { |name| names_in(name) }.sort
      end

      private

      def kit
        UnitTest.kit
      end

      def store
        kit.store(@backend)
      end

      def globals(options)
        return 'globals' if options['environment'].nil?

        raise ArgumentError, "'global' and 'environment' exclude each other: global keys belong to no environment"
      end

      def prefix(environment, example)
        environment ||= example.respond_to?(:environment) ? example.environment : ENVIRONMENT
        name = Coercion.convert(:environment, environment.to_s)
        return Config.prefix('environment' => name) if name

        raise ArgumentError, "'environment' must be a name of letters, digits and '_'"
      end

      def check(entries)
        raise ArgumentError, 'the keys must be in a Hash, with their values' unless entries.is_a?(Hash)
        return if entries.keys.all?(String)

        raise ArgumentError, 'keys are Strings; put the Hash in braces before the options: ' \
                             "simpkv_with({ 'a' => 1 }, global: true)"
      end

      def path(key)
        Native.key_check(key, true)
        Native.key_join(@prefix, key)
      end

      def make_folder(path)
        key = "#{path}/k"
        store.put(key, @documents.encode(nil, {}, false))
        store.delete(key)
      end

      def names_in(backend)
        store = kit.store(backend)
        paths = %w[globals environments].flat_map do |root|
          store.tree(root, values: false)[:keys].keys.map { |key| "#{root}/#{key}" }
        end
        paths.map { |path| place_of(path) + (backend == @backend ? '' : " of backend '#{backend}'") }
      end

      def place_of(path)
        return "'#{path.delete_prefix("#{@prefix}/")}'" if path.start_with?("#{@prefix}/")

        root, environment, key = path.split('/', 3)
        root == 'globals' ? "'#{path.split('/', 2).last}' (global)" : "'#{key}' (environment '#{environment}')"
      end
    end
  end
end
