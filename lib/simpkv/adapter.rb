# frozen_string_literal: true

require 'simpkv'
require 'simpkv/config/hiera_names'

module Simpkv
  # The object between Puppet's functions and the backends of one catalog. The module's `puppet_x/simpkv/simpkv.rb`
  # makes a subclass for each environment, which has the plugins of that environment.
  #
  # Its public operations return `{ result:, err_msg: }`. They raise {ConfigError} and nothing else.
  class Adapter
    # @return [Hash{String => Hash}] by type: `{ class:, source: }`, the class of the plugin and the file it came from
    attr_reader :plugin_info

    # @return [Calls] runs the calls of functions
    attr_reader :calls

    # @return [String, nil] the node of the catalog
    attr_accessor :node

    # @return [Hash, nil] `simpkv::options` of Hiera, once it was looked up
    attr_accessor :site_options

    # @param folder [String] `puppet_x/simpkv` of the module, as Puppet knows it, links included
    def initialize(folder)
      @plugin_info = plugins_of(folder)
      @warned = []
      @hiera_levels = {}
      @backends = Backends.new(self)
      @documents = Documents.new
      @calls = Calls.new(self, @backends, @documents)
    end

    # @return [Array<String>] the types for which there is a plugin, sorted
    def backends
      plugin_info.keys.sort
    end

    # @return [Hash{String => Object}] the configured plugins of this catalog, by `<type>/<id>`
    def plugin_instances
      @backends.plugins
    end

    # Returns the plugin of the chosen backend, which is made and configured at its first use.
    #
    # @param options [Hash] merged options
    # @return [Object] the plugin
    # @raise [RuntimeError] it cannot be made or configured
    # @raise [ConfigError] it is in use with another location or identity
    def plugin_instance(options)
      @backends.for(options).plugin
    end

    # Adds the folder of the environment or of the global keys to a key, or removes it.
    #
    # @param key [String] `a/b`, or for `:remove_prefix` `environments/production/a/b`
    # @param options [Hash] `global` and `environment` count; the environment `''` is the folder of all environments
    # @param operation [Symbol] `:add_prefix` or `:remove_prefix`
    # @return [String] the key, without superfluous slashes
    # @raise [ArgumentError, Error] a name could lead elsewhere, or is too long
    def normalize_key(key, options, operation = :add_prefix)
      case operation
      when :add_prefix then Native.key_join(Config.prefix(options), key)
      when :remove_prefix then key.delete_prefix("#{Config.prefix(options)}/")
      else raise ArgumentError, "normalize_key: unknown operation '#{operation}'"
      end
    end

    # @return [String] the document, JSON; see {Documents#encode}
    # @raise [UnencodableError]
    def serialize(value, metadata, rich_data = false) # rubocop:disable Style/OptionalBooleanParameter
      @documents.encode(value, metadata, rich_data)
    end

    # @return [Hash] `{ value:, metadata: }`
    # @raise [MalformedError]
    def deserialize(json)
      @documents.decode(json)
    end

    # @param backtrace [Array<String>, nil]
    # @return [Array<String>] the lines that belong to simpkv and its plugins
    def filter_backtrace(backtrace)
      ExceptionText.own_lines(backtrace)
    end

    # Other modules call these: delete, deletetree, exists, get and list with a key and options.
    { delete: false, deletetree: false, exists: nil, get: nil, list: nil }.each do |operation, failed|
      define_method(operation) { |key, options| reply(failed) { calls.perform(operation, key, options) } }
    end

    # @return [Hash] `result:` true
    def put(key, value, metadata, options)
      reply(false) { calls.perform(:put, key, value, metadata, options) }
    end

    # @param options [Hash] of a level of hiera.yaml
    # @param compiling [String] the environment that the catalog is compiled in
    # @return [HieraLevel] the level, the same for equal options. It keeps its entries; Hiera drops its own whenever a
    #   variable of hiera.yaml changes
    # @raise [ConfigError] an option is invalid
    def hiera_level(options, compiling)
      @hiera_levels.fetch(options) do
        @hiera_levels[Config.copy(options)] = HieraLevel.new(self, options, compiling)
      end
    end

    # Merges the options of a call over those of Hiera, and warns of doubtful ones.
    #
    # @return [Hash] see {MergedOptions.of}
    # @raise [ConfigError] an option is invalid
    def merge(options, compiling, types)
      merged, warnings = MergedOptions.of(self, options, compiling, types)
      warn_of(warnings)
      merged
    end

    # Returns true if Bolt made up the environment: `bolt_catalog` for its catalogs, `bolt` for its plans. An
    # environment `bolt` with a folder belongs to the site.
    #
    # @param environment [String]
    # @return [Boolean]
    def made_up?(environment)
      environment == 'bolt_catalog' ||
        (environment == 'bolt' && Puppet.lookup(:environments) { nil }.instance_of?(Puppet::Environments::Static))
    end

    # Gives each warning once a catalog.
    #
    # @param messages [Array<String>]
    # @return [void]
    def warn_of(messages)
      (messages - @warned).each { |message| Puppet.warning(message) }
      @warned |= messages
    end

    # Warns of misspelt names of `simpkv::options` in Hiera.
    #
    # @param scope [Puppet::Parser::Scope] of the catalog
    # @return [void]
    def warn_of_hiera(scope)
      warn_of(HieraNames.misspelt(HieraFiles.of(scope)).map { |text| "simpkv: Hiera has the key #{text}" })
    end

    private

    def plugins_of(folder)
      types, warnings = EnvironmentCode.kept(:@simpkv_plugins) { PluginFiles.new(folder).read }
      warnings.each { |warning| Puppet.warning(warning) }
      types
    end

    def reply(failed)
      { result: yield, err_msg: nil }
    rescue Error => e
      { result: failed, err_msg: e.message }
    end
  end
end

require 'simpkv/adapter/advice'
require 'simpkv/adapter/backends'
require 'simpkv/adapter/calls'
require 'simpkv/adapter/configured_backend'
require 'simpkv/adapter/direct_get'
require 'simpkv/adapter/documents'
require 'simpkv/adapter/dry_run'
require 'simpkv/adapter/environment_code'
require 'simpkv/adapter/exception_text'
require 'simpkv/adapter/hiera_files'
require 'simpkv/adapter/hiera_level'
require 'simpkv/adapter/listing'
require 'simpkv/adapter/merged_options'
require 'simpkv/adapter/operations'
require 'simpkv/adapter/plugin_files'
require 'simpkv/adapter/plugin_methods'
require 'simpkv/adapter/plugin_place'
require 'simpkv/adapter/plugin_results'
require 'simpkv/adapter/plugin_store'
require 'simpkv/adapter/results'
