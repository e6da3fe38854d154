# frozen_string_literal: true

module Simpkv
  class Adapter
    # A backend for one set of merged options: its plugin, its store, the paths of keys there, and the text of its
    # failures.
    class ConfiguredBackend
      # @param name [String] `<type>/<id>`
      # @return [String] the text of the error for a backend that cannot be used at all
      def self.unusable(name, why)
        "simpkv Error: Unable to construct '#{name}': #{why}"
      end

      # @return [Object] the plugin
      attr_reader :plugin

      # @return [Store, Layer, PluginStore]
      attr_reader :store

      # @param plugin [Object] a configured one
      # @param store [Object]
      # @param name [String] `<type>/<id>`
      # @param options [Hash] merged options
      def initialize(plugin, store, name, options)
        @plugin = plugin
        @options = options
        @name = name
        @title = "simpkv #{name} Error:"
        @native = plugin.respond_to?(:simpkv_store)
        @store = store
      end

      # @return [Object] the option of the call, or its default
      # @raise [ConfigError] it is of the wrong type
      def flag(name)
        Config.flag(@options, name)
      end

      # @return [Boolean] whether the store is one of the core, or above one
      def native?
        @native
      end

      # @return [VersionedStore] the store for writes that depend on the stored document, which may have expired
      # @raise [ConfigError] an option is of the wrong type
      def versioned
        @versioned ||= VersionedStore.new(@store, history: Config.history(@options),
                                                  expires_after: flag('expires_after'))
      end

      # @return [Object] the store for other writes
      # @raise [ConfigError] an option is of the wrong type
      def writer
        @writer ||= versioned.plain? ? @store : versioned
      end

      # @return [Integer] the version to read
      # @raise [ConfigError] the option is of the wrong type
      def version
        @version ||= flag('version')
      end

      # @param key [String] one that has expired
      # @return [Boolean] whether readers get it all the same
      # @raise [ConfigError] the option is of the wrong type
      def returns_expired?(key)
        @expired ||= flag('expired')
        Puppet.warning("simpkv #{@name}: key '#{key}' has expired, and is read all the same") if @expired == 'warn'
        @expired != 'absent'
      end

      # @param name [String] a key or folder
      # @return [String] its path in the store: below the folder of the environment, or of the global keys
      # @raise [ArgumentError, Error] a name could lead elsewhere, or is too long
      def path(name)
        @prefix ||= Config.prefix(@options)
        Native.key_join(@prefix, name)
      end

      # @return [String] the path of a key
      # @raise [IsFolderError] the key is the root of an environment or of the global keys
      def path_of_key(key)
        path = path(key)
        raise IsFolderError, "Key specifies a folder: '#{key}'" if Config.root?(path)

        path
      end

      # @return [Array(Hash{String => String}, Hash{String => Error})] by key: the paths, and why a key has none
      def paths_of_keys(keys)
        errors = {}
        paths = keys.to_h do |key|
          [key, path_of_key(key)]
        rescue Error => e
          errors[key] = e
          [key, nil]
        end
        [paths.compact, errors]
      end

      # @param exception [Exception] of an operation
      # @return [Error] an error that names the backend and shows no value
      def failure(exception)
        text = ExceptionText.of(exception)
        return Error.new(attributed(text)) unless exception.is_a?(Error)
        return exception.reworded(attributed(text)) unless @native

        why = @plugin.explain(exception)
        # Only an operation finds out that there is no base entry: the identity of a role never sees one.
        why = LdapAccess.unseen_base?(exception) ? self.class.unusable(@name, why) : attributed(why)
        exception.reworded(why)
      end

      # @param why [String]
      # @return [String] the same, with the name of the backend at its beginning
      def attributed(why)
        why.start_with?(@title) ? why : "#{@title} #{why}"
      end

      # @param errors [Hash{String => Error, String}] by key
      # @param operation [Symbol] on each key: see {Advice.of_kind}
      # @return [Hash{String => String}] the texts, as those of calls for one key
      def attributed_errors(errors, operation)
        errors.transform_values do |why|
          attributed(why.is_a?(Error) ? "#{why.message}#{Advice.of_kind(why, operation)}" : why)
        end
      end
    end
  end
end
