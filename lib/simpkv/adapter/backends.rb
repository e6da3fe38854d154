# frozen_string_literal: true

module Simpkv
  class Adapter
    # The backends of a catalog, each made and configured at its first use.
    class Backends
      # A place, its store, and the options of that store.
      Opened = Struct.new(:place, :store, :configuration)
      private_constant :Opened

      # @param adapter [Adapter]
      def initialize(adapter)
        @adapter = adapter
        @types = adapter.plugin_info
        @opened = {}
        @known = {}.compare_by_identity
      end

      # @return [Hash{String => Object}] the configured plugins, by `<type>/<id>`
      def plugins
        @opened.transform_values { |opened| opened.place.plugin }
      end

      # @param options [Hash] merged options
      # @return [ConfiguredBackend] the chosen backend. After an error in its configuration, the next call makes it anew
      # @raise [RuntimeError] it cannot be made or configured
      # @raise [ConfigError] it is in use with another location or identity
      def for(options)
        @known[options] || find(options)
      end

      private

      # Remembers the backend if the options are frozen.
      def find(options)
        chosen = chosen(options)
        backend = configured(UnitTest.redirect(options))
        @known[options] = backend if [options, options['backends'], chosen].all?(&:frozen?)
        backend
      end

      def configured(options)
        configuration = options['backends'][options['backend']]
        name = configuration.values_at('type', 'id').join('/')
        check_unchanged(name, configuration) if @opened.key?(name)
        opened = @opened[name] ||= opened(name, configuration, options)
        ConfiguredBackend.new(options, opened.place, opened.store)
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

      # @return [Opened]
      def opened(name, configuration, options)
        check_apart(name, configuration)
        Opened.new(*made(name, configuration, options), Config.copy(configuration))
      end

      # @return [Array(PluginPlace, Object)] the place, and its store
      def made(name, configuration, options)
        place = PluginPlace.new(@types[configuration['type']][:class].new(name), options)
        warn = ->(warning) { @adapter.warn_of(["simpkv #{name}: #{warning}"]) }
        [place, Backend.new(options, nil, warn, node: @adapter.node, place: place).open]
      rescue SystemExit, SignalException, NoMemoryError
        raise
      rescue Exception => e # rubocop:disable Lint/RescueException -- a plugin may raise anything
        # The plugin has seen no value yet, and its message may name an option.
        raise PluginError, ConfiguredBackend.unusable(name, e.message)
      end

      # Refuses a backend inside another one of this catalog, or around it.
      def check_apart(name, configuration)
        problem = Isolation.clash(configuration, @opened.values.map(&:configuration))
        raise ConfigError, "simpkv backend #{name}: #{problem}" if problem
      end

      def check_unchanged(name, configuration)
        known = @opened[name].configuration
        return if known == configuration

        others = Validation.check_same(known, configuration)
        @adapter.warn_of(others.map do |option|
          "simpkv backend #{name} is in use already with another '#{option}', which stays until the end of this catalog"
        end)
      end
    end
  end
end
