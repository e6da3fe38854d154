# frozen_string_literal: true

require 'simpkv'

module Simpkv
  # One backend of the site's options, with the paths of the keys of one environment, or of the global keys.
  class SiteBackend
    # @param site [Hash] the options of the site
    # @return [Hash] a copy without the options of the estate and of access control, and with backends: the default
    #   ones if it has none
    def self.site_options(site)
      merged = Config.copy(site)
      merged.delete('estate')
      merged.delete('access')
      merged['backends'] = Config.default_backends unless merged.key?('backends')
      merged
    end

    # @return [String] its name in the options
    attr_reader :name

    # @return [Hash{String => Object}] its options, converted, with their defaults
    attr_reader :settings

    # @param options [Hash] merged options: `backends`, the chosen `backend`, and `global` or `environment`
    # @param vardirs [Array(Array<String>, Array<String>)] `vardirs` and `more` of {DefaultRoot}
    # @param warn [#call, nil] receives each warning, when the store is opened
    # @param node [String, #call, nil] the node that operations are for, in the audit log: see {AuditedStore}
    # @raise [ConfigError]
    def initialize(options, vardirs, warn = nil, node: nil)
      Validation.check(options, Config::TYPES.keys)
      @options = options
      @name = options['backend']
      @settings = Config.typed(options['backends'][name], name)
      @vardirs = vardirs
      @warn = warn || ->(_warning) {}
      @node = node
    end

    # @return [Boolean] whether names may have capital letters
    def case_sensitive?
      settings['case_sensitive']
    end

    # @param key [String] a key or a folder as manifests write it
    # @return [String] its path in the store
    # @raise [InvalidError, TooLargeError, ArgumentError] a name could lead elsewhere, or is too long
    def path(key)
      @prefix ||= Config.prefix(@options)
      Native.key_join(@prefix, key)
    end

    # @param path [String] in the store
    # @return [String] the same for two paths that the store takes for one: a directory ignores case
    def canonical(path)
      LdapAccess.folds_names?(settings) ? LdapAccess.canonical(path) : path
    end

    # @return [Object] the option of a call, converted, or its default
    # @raise [ConfigError] it is of the wrong type
    def flag(option)
      Config.flag(@options, option)
    end

    # @return [Array] the same for two backends with the same keys
    # @raise [ConfigError, SystemCallError] as {FileRoot#path}
    def identity
      @identity ||=
        if ldap?
          settings.values_at('type', 'id', 'base_dn', 'ldap_uri', 'layout')
        else
          ['file', Isolation.canonical(root.path)]
        end
    end

    # @return [String, nil] the root folder of a backend of type file
    # @raise [ConfigError, SystemCallError] as {FileRoot#path}
    def root_path
      root.path unless ldap?
    end

    # Opens the store, which must exist: a new one would be empty.
    #
    # @return [Store, Object] see {Layers.over}
    # @raise [ConfigError] the folder of the store is missing, for instance because it is not mounted
    # @raise [Error] the backend or its file of keys cannot be used, or a directory lacks the base entry
    def open_existing
      layered(ldap? ? directory : root.open_existing)
    end

    # Opens the store, or makes its folder if that is missing.
    #
    # @return [Store, Object] see {Layers.over}
    # @raise [ConfigError, Error, SystemCallError]
    def open
      layered(ldap? ? directory : folder)
    end

    # @return [Boolean] whether a folder may be a link to another one
    def links?
      !ldap?
    end

    # Opens a store in files, which must exist, as {FileRoot#open_without_links}.
    #
    # @return [Store, Object] see {Layers.over}
    # @raise [ConfigError, Error, SystemCallError]
    def open_without_links
      layered(root.open_without_links)
    end

    # Checks that the store exists, in the place where {#open_existing} opened it.
    #
    # @return [void]
    # @raise [ConfigError] it does not
    def check
      root.check unless ldap?
    end

    # @return [Boolean] whether there is a store in files; true for a directory
    # @raise [ConfigError, SystemCallError] as {FileRoot#path}
    def there?
      ldap? || root.there?
    end

    private

    def ldap?
      settings['type'] == 'ldap'
    end

    def layered(store)
      Layers.over(store, settings, node: @node, warn: @warn)
    end

    def root
      @root ||= FileRoot.new(settings) { @vardirs }
    end

    def folder
      store, warning = root.make
      @warn.call(warning) if warning
      store
    end

    def directory
      store = LdapAccess.open(settings)
      LdapAccess.warnings(settings).each { |warning| @warn.call(warning) }
      return store unless LdapAccess.base(store) == :missing

      raise UnavailableError, "there is no entry '#{settings['base_dn']}' at #{settings['ldap_uri']}, or no access " \
                              "to it: correct 'base_dn', or run 'simpkv init' ('simpkv doctor' looks into it)"
    end
  end
end
