# frozen_string_literal: true

require 'simpkv/backend/ldap_access'

module Simpkv
  class Backend
    # The place of a backend of type ldap: the tree below a base entry of a directory.
    class LdapPlace
      # @param settings [Hash{String => Object}] those of {Config.typed}
      # @param warn [#call] receives each warning about the files with secrets and the servers, when the store is
      #   opened
      # @param search [Boolean] whether errors end with the command that asks the server outside of Puppet, as those of
      #   functions do; otherwise they name `simpkv doctor`
      def initialize(settings, warn, search: false)
        @settings = settings
        @warn = warn
        @search = search
      end

      # @return [nil] there is no folder
      def path; end

      # @return [String] the base DN and the servers
      def location
        "#{base_dn} at #{@settings['ldap_uri']}"
      end

      # @return [Array] the same for two places with the same keys
      def identity
        @settings.values_at('type', 'id', 'base_dn', 'ldap_uri', 'layout')
      end

      # @return [String] who binds to the directory
      def bound_as
        @settings['admin_pw_file'] ? @settings['admin_dn'] : 'the local user'
      end

      # @return [true] only the server knows
      def there?
        true
      end

      # Does nothing: each call of the store asks the server.
      #
      # @return [void]
      def check; end

      # Opens the store, and checks the base entry, because a wrong base DN looks like an empty store.
      #
      # @return [Store]
      # @raise [Error] as {#open_unchecked} and {#check_access}
      def open
        open_unchecked.tap { |store| check_access(store) }
      end
      alias open_existing open
      alias open_without_links open

      # Opens the store. It asks no server yet.
      #
      # @param more [Hash{String => Object}] options of {Store.open} that differ
      # @return [Store]
      # @raise [InvalidError] the options are not enough
      def open_unchecked(more = {})
        store = LdapAccess.open(@settings, more)
        [*LdapAccess.warnings(@settings), *LdapAccess.writer_warning(@settings)].each { |warning| @warn.call(warning) }
        store
      end

      # Reads the base entry.
      #
      # @param store [Store]
      # @return [:visible, :hidden] see {LdapAccess.base}
      # @raise [MissingBaseError] it is missing
      # @raise [Error] the server does not answer, or refuses the bind
      def check_access(store)
        found = LdapAccess.base(store)
        return found unless found == :missing

        raise MissingBaseError, "there is no such entry at #{@settings['ldap_uri']}, or #{bound_as} may not see it: " \
                                "correct 'base_dn', or make the entry with 'simpkv init'"
      rescue Error => e
        raise e.reworded("could not access #{base_dn}: #{explain(e)}"), cause: nil unless @search

        raise e.reworded(inaccessible(e)), cause: nil
      end

      # @param error [Error] of the store
      # @return [String] its message, with the way to its cause
      def explain(error)
        return inaccessible(error) if @search && LdapAccess.unseen_base?(error)

        case error
        when DeniedError, UnavailableError then advised(error)
        when TimeoutError then @search ? advised(error) : error.message
        else error.message
        end
      end

      private

      # The text of simpkv 1.0.0, which sites match.
      def inaccessible(error)
        "Plugin could not access #{base_dn}: #{advised(error)}"
      end

      def advised(error)
        why = error.message.chomp('.')
        return "#{why} ('simpkv doctor' looks into it)" unless @search
        # The file of keys is to blame, not the server.
        return error.message if error.fault == :encryption_keys

        "#{why}. To ask outside of Puppet: #{LdapAccess.command(@settings)}"
      end

      def base_dn
        @settings['base_dn']
      end
    end
  end
end
