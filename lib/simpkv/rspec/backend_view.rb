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

      # @param example [Object] the example; its `environment`, if it has one, is that of rspec-puppet
      # @param options [Hash{String => Object}] `global`, `environment`, `backend`
      # @raise [ArgumentError] an option is unknown
      def initialize(example, options)
        unknown = options.keys - OPTIONS
        raise ArgumentError, "unknown option '#{unknown.first}': expected #{OPTIONS.join(', ')}" if unknown.any?

        @backend = (options['backend'] || 'default').to_s
        @own = example.respond_to?(:environment) ? example.environment.to_s : ENVIRONMENT
        environment = (options['environment'] || @own).to_s
        @prefix = Config.prefix('global' => options['global'], 'environment' => environment)
        @documents = Adapter::Documents.new
      end

      # Stores keys.
      #
      # @param entries [Hash{String => Object}] values by key; that of a key that ends in `/` is the Hash of its folder
      # @return [void]
      def fill(entries, metadata)
        entries.each do |key, value|
          path = path(key)
          next store.put(path, @documents.encode(value, metadata, false)) unless key.end_with?('/')

          fill(value.transform_keys { |name| "#{key}#{name}" }, metadata)
          make_folder(path) if value.empty?
        end
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
