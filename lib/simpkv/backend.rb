# frozen_string_literal: true

require 'simpkv/backend/file_place'
require 'simpkv/backend/layers'
require 'simpkv/backend/ldap_place'
require 'simpkv/config/sections'
require 'simpkv/config/unit_test'
require 'simpkv/config/validation'

module Simpkv
  # One backend of merged options: its options, checked and converted, its place, its store with all layers, and the
  # paths of the keys of one environment, or of the global keys. Functions, types, termini and the command open each
  # store with it. {Cli::ChosenBackend} is the one of a command, {Adapter::ConfiguredBackend} that of a call of a
  # function; {Adapter::Backends} and {Resources::Backends} remember those of a catalog.
  class Backend
    # The place of each type. A place has the methods of {FilePlace}.
    PLACES = { 'file' => FilePlace, 'ldap' => LdapPlace }.freeze
    private_constant :PLACES

    # @param settings [Hash{String => Object}] the options of a backend: see {Config.typed}
    # @param warn [#call] receives each warning, when the store is opened
    # @param search [Boolean] whether errors are worded for functions: see {LdapPlace#initialize}
    # @yieldreturn [Array(Array<String>, Array<String>)] as for {FilePlace#initialize}
    # @return [FilePlace, LdapPlace]
    def self.place(settings, warn, search: false, &vardirs)
      PLACES.fetch(settings['type']).new(settings, warn, search: search, &vardirs)
    end

    # @param site [Hash] the options of the site
    # @return [Hash] a copy without sections, and with backends: the default
    #   ones if it has none
    def self.site_options(site)
      merged = Config.copy(site)
      Config::Sections.names.each { |section| merged.delete(section) }
      merged['backends'] = Config.default_backends unless merged.key?('backends')
      merged
    end

    # @param site [Hash] the options of the site
    # @param name [String, nil] of the backend; nil for the one that functions use
    # @return [Backend] for the global keys
    # @raise [ConfigError]
    def self.of_globals(site, name, vardirs, warn = nil, node: nil)
      options = site_options(site)
      options['backend'] = name || Config.backend_for(options, nil)
      new(options.merge('global' => true), vardirs, warn, node: node)
    end

    # @return [String] its name in the options
    attr_reader :name

    # @param options [Hash] merged options: `backends`, the chosen `backend`, and `global` or `environment`
    # @param vardirs [Array(Array<String>, Array<String>)] `vardirs` and `more` of {DefaultRoot}
    # @param warn [#call, nil] receives each warning, when the store is opened
    # @param node [String, #call, nil] the node that operations are for, in the audit log: see {Audit::Recorder}
    # @param place [#open, nil] the place of a plugin, which checks the options of its type; nil for the place of the
    #   type
    # @raise [ConfigError]
    def initialize(options, vardirs, warn = nil, node: nil, place: nil)
      @options = place ? options : checked(options)
      @name = @options['backend']
      @vardirs = vardirs
      @warn = warn || ->(_warning) {}
      @node = node
      @place = place
      settings unless place
    end

    # @return [Hash{String => Object}] its options, converted, with their defaults
    # @raise [ConfigError]
    def settings
      @settings ||= Config.typed(@options['backends'][name], name)
    end

    # @return [String]
    def type
      settings['type']
    end

    # @return [String]
    def id
      settings['id']
    end

    # @return [String] the name in the errors of functions
    def title
      "#{type}/#{id}"
    end

    # @return [Boolean]
    def ldap?
      type == 'ldap'
    end

    # @return [Boolean] whether names may have capital letters
    def case_sensitive?
      settings['case_sensitive']
    end

    # @return [String] the folder of the environment, or of the global keys
    # @raise [ArgumentError]
    def prefix
      @prefix ||= Config.prefix(@options)
    end

    # @param key [String] a key or a folder as manifests write it
    # @return [String] its path in the store
    # @raise [InvalidError, TooLargeError, ArgumentError] a name could lead elsewhere, or is too long
    def path(key)
      Native.key_join(prefix, key)
    end

    # @param path [String] in the store
    # @return [String] the same for two paths that the store takes for one: a directory ignores case
    def canonical(path)
      LdapAccess.folds_names?(settings) ? LdapAccess.canonical(path) : path
    end

    # @return [Array<String>] a warning for each unknown option: see {Config.doubts}
    def doubts
      Config.doubts(@options)
    end

    # @return [Object] the option of a call, converted, or its default
    # @raise [ConfigError] it is of the wrong type
    def flag(option)
      Config.flag(@options, option)
    end

    # @return [FilePlace, LdapPlace]
    def place
      @place ||= self.class.place(settings, @warn) { @vardirs }
    end

    # @return [Array] the same for two backends with the same keys
    # @raise [ConfigError, SystemCallError] as {FilePlace#path}
    def identity
      @identity ||= place.identity
    end

    # @return [Boolean] whether there is a store in files; true for a directory
    # @raise [ConfigError, SystemCallError] as {FilePlace#path}
    def there?
      place.there?
    end

    # Checks that the store exists, in the place where {#open_existing} opened it.
    #
    # @return [void]
    # @raise [ConfigError] it does not
    def check
      place.check
    end

    # Opens the store, or makes its folder if that is missing.
    #
    # @return [Store, Object] see {Layers.over}
    # @raise [ConfigError, Error, SystemCallError]
    def open
      layered(place.open)
    end

    # Opens the store, which must exist: a new one would be empty.
    #
    # @return [Store, Object] see {Layers.over}
    # @raise [ConfigError] the folder of the store is missing, for instance because it is not mounted
    # @raise [Error] the backend or its file of keys cannot be used, or a directory lacks the base entry
    def open_existing
      layered(place.open_existing)
    end

    # As {#open_existing}, for reads that go on while the server of `write_uri` is down: see {ReplicaReads}.
    #
    # @yieldreturn [Boolean] whether a read may go on
    # @return [Store, Object] see {Layers.over}
    # @raise [ConfigError, Error]
    def open_for_replicas(&allowed)
      layered(ReplicaReads.new(place.open_existing, allowed) { place.open_existing })
    end

    # Opens a store, which must exist, for calls that remove what they find. In files, they follow no link to a folder.
    #
    # @return [Store, Object] see {Layers.over}
    # @raise [ConfigError, Error, SystemCallError]
    def open_without_links
      layered(place.open_without_links)
    end

    # @return [Boolean] whether a folder may be a link to another one
    def links?
      !ldap?
    end

    private

    def checked(options)
      Validation.check(options, Config::TYPES.keys)
      UnitTest.redirect(options)
    end

    def layered(store, raw: false)
      Layers.over(store, settings, raw: raw, node: @node, warn: @warn)
    end
  end
end
