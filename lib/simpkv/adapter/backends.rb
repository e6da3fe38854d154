# frozen_string_literal: true

module Simpkv
  class Adapter
    # The backends of a catalog, each made and configured at its first use.
    class Backends
      # @return [Hash{String => Object}] the configured plugins, by `<type>/<id>`
      attr_reader :plugins

      # @param adapter [Adapter]
      def initialize(adapter)
        @adapter = adapter
        @types = adapter.plugin_info
        @plugins = {}
        @stores = {}
        @configurations = {}
        @known = {}.compare_by_identity
      end

      # @param options [Hash] merged options
      # @return [ConfiguredBackend] the chosen backend. If its configuration fails, the next call makes it anew
      # @raise [RuntimeError] it cannot be made or configured
      # @raise [ConfigError] it is in use with another location or identity
      def for(options)
        @known[options] || find(options)
      end

      private

      # Remembers the backend for options that cannot change.
      def find(options)
        chosen = chosen(options)
        backend = configured(UnitTest.redirect(options))
        @known[options] = backend if [options, options['backends'], chosen].all?(&:frozen?)
        backend
      end

      def configured(options)
        configuration = options['backends'][options['backend']]
        name = configuration.values_at('type', 'id').join('/')
        if @plugins.key?(name)
          check_unchanged(name, configuration) unless @configurations[name] == configuration
        else
          check_apart(name, configuration)
          @plugins[name], @stores[name] = made(name, configuration, options)
          @configurations[name] = Config.copy(configuration)
        end
        ConfiguredBackend.new(@plugins[name], @stores[name], name, options)
      end

      def chosen(options)
        backends = options['backends']
        backend = backends[options['backend']] if backends.is_a?(Hash)
        unless backend.is_a?(Hash) && backend['type'].is_a?(String) && backend['id'].is_a?(String)
          malformed(options, "its 'type' and 'id' must be Strings")
        end
        return backend if @types.key?(backend['type'])

        malformed(options, "there is no plugin of type '#{backend['type']}', only of #{@adapter.backends.join(', ')}")
      end

      def malformed(options, why)
        raise InvalidError, "Malformed backend config of backend '#{options['backend']}': #{why}"
      end

      # @return [Array(Object, Object)] the plugin, and its store
      def made(name, configuration, options)
        plugin = @types[configuration['type']][:class].new(name)
        check_configured(plugin.configure(Config.copy(options)))
        settings = Config.typed(configuration, options['backend'])
        warn = ->(warning) { @adapter.warn_of(["simpkv #{name}: #{warning}"]) }
        [plugin, Layers.over(store_of(plugin), settings, node: @adapter.node, warn: warn)]
      rescue SystemExit, SignalException, NoMemoryError
        raise
      rescue Exception => e # rubocop:disable Lint/RescueException -- a plugin may raise anything
        # The plugin has seen no value yet, and its message may name an option.
        raise PluginError, ConfiguredBackend.unusable(name, e.message)
      end

      # @return [Store, Object] for a third-party plugin a {PluginStore}
      def store_of(plugin)
        return plugin.simpkv_store if plugin.respond_to?(:simpkv_store)

        PluginStore.new(plugin)
      end

      # Any result other than a failure counts as success.
      def check_configured(returned)
        return unless returned.is_a?(Hash) && returned.key?(:result) && !returned[:result]

        why = returned[:err_msg].to_s
        raise PluginError, why.empty? ? 'configure failed and gave no reason' : why
      end

      # Refuses a backend inside another one of this catalog, or around it.
      def check_apart(name, configuration)
        problem = Isolation.clash(configuration, @configurations.values)
        raise ConfigError, "simpkv backend #{name}: #{problem}" if problem
      end

      def check_unchanged(name, configuration)
        others = Validation.check_same(@configurations[name], configuration)
        @adapter.warn_of(others.map do |option|
          "simpkv backend #{name} is in use already with another '#{option}', which stays until the end of this catalog"
        end)
      end
    end
  end
end
