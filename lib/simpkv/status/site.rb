# frozen_string_literal: true

module Simpkv
  module Status
    # The stores of the site, for the service and for `simpkv status`. Each caller has stores of its own, whose
    # operations carry its name in the audit log; their connections are the same. Thread-safe.
    class Site
      # The number of callers whose stores are kept.
      CALLERS_MAX = 100
      private_constant :CALLERS_MAX

      # @return [Hash] the options of the file of the command
      attr_reader :options

      # @return [Array(Array<String>, Array<String>)] the vardirs of Puppet: `vardirs` and `more` of {DefaultRoot}
      attr_reader :vardirs

      # @return [#call] receives warnings about places and files
      attr_reader :warn

      # @param options [Hash] of the file of the command
      # @param vardir [String, nil] the vardir of Puppet; nil for the usual ones
      # @param warn [#call] receives warnings about places and files
      # @raise [ConfigError]
      def initialize(options, vardir, warn)
        @options = Config.frozen(options)
        @vardirs = [vardir ? [vardir] : Vardirs.all, []]
        @warn = warn
        @mutex = Mutex.new
        @opened = {}
      end

      # @param name [String, nil] of a backend; nil for the default one
      # @return [Backend] with the options of the backend
      # @raise [ConfigError] there is no such backend, or an option is wrong
      def backend(name = nil, node: nil)
        Backend.of_globals(@options, name, @vardirs, @warn, node: node)
      end

      # @return [String] the name of the backend of requests that name none
      # @raise [ConfigError] an option is wrong
      def default_backend
        @default_backend ||= backend.name
      end

      # @param caller [#to_s, nil] who asks the service; nil for the command
      # @param name [String, nil] of a backend; nil for the default one
      # @return [Array(Backend, Store)]
      # @raise [Error, ConfigError] among others, the store that was there does not exist any more
      def store(caller, name = nil)
        opened = kept([:store, caller.to_s, name]) do
          backend = backend(name, node: caller&.to_s)
          [backend, backend.open_existing]
        end
        # A file system that is not mounted any more would look like an empty store.
        opened.tap { |backend, _| backend.check }
      end

      # @return [Array<String>] the names of all backends
      def backend_names
        Config.backends_of(Backend.site_options(@options)).keys
      end

      # Keeps what the block opens, unless it raises. The oldest goes first.
      #
      # @param key [Object]
      # @return [Object] what the block opened
      def kept(key)
        @mutex.synchronize do
          return @opened[key] if @opened.key?(key)
        end
        opened = yield
        @mutex.synchronize do
          @opened.shift if @opened.length >= CALLERS_MAX
          @opened[key] ||= opened
        end
      end
    end
  end
end
