# frozen_string_literal: true

require 'simpkv/backend/ldap_search'

module Simpkv
  module Cli
    # The entries that replication of 389-DS left behind. If two suppliers add an entry of one name at once, both keep
    # one of the two under its name. The other gets a name of its own, and no search shows it that does not ask for it.
    class ConflictEntries
      SEARCH = ['(&(nsds5ReplConflict=*)(|(objectClass=*)(objectClass=ldapSubEntry)))', '1.1'].freeze
      private_constant :SEARCH

      # The words for their absence. No search shows the half-deleted entries of docs/adr/0054.
      NONE = "none. No search shows half-deleted entries: if 'simpkv get' shows a key and 'simpkv ls' does not, " \
             "delete it with 'simpkv rm', or restart the server"

      # @param settings [Hash{String => Object}] of a backend of type ldap
      def initialize(settings)
        @settings = settings
      end

      # @return [Array<String>] their DNs, below the base entry, the outermost first
      # @raise [UnavailableError] ldapsearch is missing or failed
      def names
        LdapSearch.run(@settings, SEARCH).map(&:first).sort_by(&:length)
      end

      # @return [String] the command line that lists them
      def command
        LdapSearch.command(@settings, SEARCH)
      end

      # @param name [String] a DN
      # @return [String] the command line that deletes it and what is below it
      def deletion(name)
        LdapAccess.deletion(@settings, name)
      end
    end
  end
end
