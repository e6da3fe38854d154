# frozen_string_literal: true

require 'simpkv/access/reconciler'
require 'simpkv/estate'

module Simpkv
  module Access
    # Access control as the options of a site configure it, outside the command.
    class Site
      # @param site [Hash] the options of the site, with `backends`, `access` and perhaps `estate`
      # @param vardirs [Array(Array<String>, Array<String>)] `vardirs` and `more` of {DefaultRoot}
      # @param warn [#call] receives each warning about a store, when it is opened
      # @raise [ConfigError]
      def initialize(site, vardirs, warn)
        raise ConfigError, "there is no 'access': set its options (docs/access.md)" unless site['access']

        @site = site
        @vardirs = vardirs
        @warn = warn
        @options = Config::Sections.convert(site, 'access')
        @estate = Config::Sections.convert(site, 'estate')
        refuse_files
      end

      # @return [Boolean] whether prefixes may have capital letters
      def case_sensitive?
        target.case_sensitive?
      end

      # @param after_run [Proc] see {Reconciler#initialize}
      # @return [Reconciler]
      # @raise [Error, ConfigError]
      def reconciler(&after_run)
        directory = Directory.configured(store(target.name), target.settings, @options)
        options = (@site['estate'] || {}).merge('backend' => estate_name)
        estate = Estate.new(@site.merge('estate' => options)) { store(estate_name) }
        Reconciler.new(State.new(estate), directory, Passwords.new { |name| vault(name) }, &after_run)
      end

      private

      def target
        backend(@options['backend'] || estate_name)
      end

      # @return [String] the name of the backend of the estate
      def estate_name
        @estate['backend'] || backend(nil).name
      end

      def backend(name)
        @backends ||= {}
        @backends[name] ||= Backend.of_globals(@site, name, @vardirs, @warn)
      end

      # The error is about the password of one user.
      def vault(name)
        store(name)
      rescue ConfigError => e
        raise InvalidError, e.message, cause: nil
      end

      def store(name)
        @stores ||= {}
        @stores[name] ||= backend(name).open_existing
      end

      def refuse_files
        return if target.settings['type'] == 'ldap'

        raise ConfigError, "the backend '#{target.name}' is not of type ldap, and access control needs one: set " \
                           "'backend' of 'access'"
      end
    end
  end
end
