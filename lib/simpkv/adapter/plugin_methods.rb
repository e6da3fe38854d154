# frozen_string_literal: true

module Simpkv
  class Adapter
    # The methods of a plugin over a Store, for the plugins of the types that {Backend} knows. The adapter calls the
    # store itself; most of these methods are for code that calls a plugin. plugin_template.rb describes them.
    module PluginMethods
      # @return [String] `<type>/<id>`
      attr_reader :name

      # @return [Store, nil] the store, once it is configured
      attr_reader :simpkv_store

      def initialize(name)
        @name = name
      end

      # Opens the store through its place, which completes the messages of errors.
      def configure(options)
        place = Backend.place(settings_from(options), method(:warn_of), search: true) { Vardirs.of_puppet }
        @simpkv_store = place.open
        @place = place
        { result: true, err_msg: nil }
      rescue ConfigError => e
        { result: false, err_msg: "Plugin misconfigured: #{e.message}" }
      rescue Error, SystemCallError => e
        { result: false, err_msg: e.message }
      end

      # @param error [Error] of the store
      # @return [String] its text, with advice if there is some
      def explain(error)
        @place ? @place.explain(error) : error.message
      end

      def delete(key)
        attempt(:delete, false) { |store| store.delete(key) || true }
      end

      def deletetree(keydir)
        attempt(:deletetree, false) { |store| store.deletetree(keydir) || true }
      end

      def exists(key)
        attempt(:exists, nil) { |store| store.exist?(key) }
      end

      def get(key)
        attempt(:get, nil) { |store| store.get(key) }
      end

      def list(keydir, &block)
        attempt(:list, nil) { |store| store.list(keydir, partial: false, &block) }
      end

      def put(key, document)
        attempt(:put, false) { |store| store.put(key, document) || true }
      end

      private

      def warn_of(warning)
        Puppet.warning("simpkv #{name}: #{warning}")
      end

      def attempt(operation, failed)
        raise InvalidError, "Internal error: #{operation} called before configure" if simpkv_store.nil?

        { result: yield(simpkv_store), err_msg: nil }
      rescue Error => e
        { result: failed, err_msg: explain(e) }
      end

      # The options of this plugin's own backend, converted.
      def settings_from(options)
        type = name.split('/').first
        backends = options['backends'] if options.is_a?(Hash)
        backend = backends[options['backend']] if backends.is_a?(Hash)
        unless backend.is_a?(Hash) && backend['type'] == type && backend['id']
          raise ConfigError, "no backend with 'type' #{type} and an 'id' is chosen"
        end

        Config.typed(backend, options['backend'])
      end
    end
  end
end
