# frozen_string_literal: true

module Simpkv
  class Adapter
    # The backend of calls with one set of merged options: its plugin, its open store, the options of the calls, and the
    # texts of its failures.
    class ConfiguredBackend < Backend
      # @param name [String] `<type>/<id>`
      # @return [String] the text of the error for a backend that cannot be used at all
      def self.unusable(name, why)
        "simpkv Error: Unable to construct '#{name}': #{why}"
      end

      # @return [Store, Layer, PluginStore]
      attr_reader :store

      # @param options [Hash] merged options
      # @param place [PluginPlace]
      # @param store [Store, Layer, PluginStore] of that place
      def initialize(options, place, store)
        super(options, nil, place: place)
        @store = store
      end

      # @return [Object] the plugin
      def plugin
        place.plugin
      end

      # @return [Boolean] whether the store is one of the core, or above one
      def native?
        place.native?
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

      # @param deadline [Deadline, nil] of a call
      # @param known [Hash] see {Secrets#initialize}
      # @return [Secrets]
      # @raise [ConfigError] an option is of the wrong type
      def secrets(deadline: nil, known: {})
        warning = ->(why) { Puppet.warning("simpkv #{title}: a certificate: #{why}") }
        Secrets.new(@store, versioned, deadline: deadline, known: known, warn: warning) do |key|
          [path_of_key(key), Native.key_join('globals', key)].uniq
        end
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
        Puppet.warning("simpkv #{title}: key '#{key}' has expired, and is read all the same") if @expired == 'warn'
        @expired != 'absent'
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

        why = place.explain(exception)
        # Only an operation finds out that there is no base entry: the identity of a role never sees one.
        why = LdapAccess.unseen_base?(exception) ? self.class.unusable(title, why) : attributed(why)
        exception.reworded(why)
      end

      # @param why [String]
      # @return [String] the same, with the name of the backend at its beginning
      def attributed(why)
        named = "simpkv #{title} Error:"
        why.start_with?(named) ? why : "#{named} #{why}"
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
