# frozen_string_literal: true

require 'simpkv/backend/ldap_search'
require 'simpkv/cli/directory/entry_paths'

module Simpkv
  module Cli
    # The entries that replication of 389-DS left behind. If two suppliers add an entry of one name at once, both keep
    # one of the two under its name. The other gets a name of its own, and only a search that asks for such entries
    # shows it. If one supplier deletes a folder to which another one adds a key, the folder comes back for that key.
    class ConflictEntries
      # An entry.
      #
      # dn:: its DN
      # kind:: `key` or `folder`: it lost to another entry of its name; `revived`: a folder that came back, in use
      # path:: that of the key or folder; nil if it is not of this backend
      # time:: when it was written last, in ISO 8601, or nil
      # writer:: the bind DN that wrote it last, or nil
      # document:: of a key, or nil
      Entry = Struct.new(:dn, :kind, :path, :time, :writer, :document) do
        # @return [Boolean] whether another entry is in use in its place
        def lost?
          kind != 'revived'
        end
      end

      FILTER = '(&(nsds5ReplConflict=*)(|(objectClass=*)(objectClass=ldapSubEntry)))'
      TIMES = %w[modifyTimestamp modifiersName].freeze
      ORIGINAL = /\AnamingConflict \(\w+\) (.*)/.freeze
      private_constant :FILTER, :TIMES, :ORIGINAL

      # The words for their absence. No search shows the half-deleted entries of docs/adr/0054.
      NONE = "none. No search shows half-deleted entries: if 'simpkv get' shows a key and 'simpkv ls' does not, " \
             "delete it with 'simpkv rm', or restart the server"

      # @param settings [Hash{String => Object}] of a backend of type ldap
      # @return [ConflictEntries] those of its server for writes
      def self.at_writer(settings)
        new(settings.merge('ldap_uri' => settings['write_uri'] || settings['ldap_uri']))
      end

      # @param settings [Hash{String => Object}] of a backend of type ldap
      def initialize(settings)
        @settings = settings
        @dns = EntryPaths.new(settings)
      end

      # @param documents [Boolean] whether to read the documents of keys
      # @return [Array<Entry>] those below the base entry, the outermost first
      # @raise [UnavailableError] ldapsearch is missing or failed
      def all(documents: false)
        wanted = ['nsds5ReplConflict', 'objectClass', *TIMES, *('simpkvJsonValue' if documents)]
        LdapSearch.run(@settings, [FILTER, *wanted]).map { |dn, attributes| entry(dn, attributes) }
                  .sort_by { |entry| entry.dn.length }
      end

      # @param path [String] of a key
      # @return [Array(String, String), nil] when the key that is in use was written last, and by whom
      # @raise [UnavailableError] ldapsearch is missing or failed
      def in_use(path)
        base = @dns.dn(path, :key)
        _, attributes = LdapSearch.run(@settings.merge('base_dn' => base), ['-s', 'base', *TIMES]).first
        attributes && times(attributes)
      end

      # @return [String] the command line that lists them
      def command
        LdapAccess.command(@settings, ['-s', 'sub', FILTER, '1.1'])
      end

      # @param entry [Entry] that lost
      # @return [String] the command line that deletes it and what is below it
      def deletion(entry)
        LdapAccess.deletion(@settings, entry.dn)
      end

      # Deletes an entry that lost, unless there is something below it.
      #
      # @param entry [Entry]
      # @return [void]
      # @raise [UnavailableError] ldapdelete is missing or failed
      def delete(entry)
        _, why, status = LdapSearch.perform(LdapAccess.deletion(@settings, entry.dn, []))
        raise UnavailableError, "ldapdelete failed: #{why.lines.first.to_s.strip}" unless status.success?
      end

      private

      def entry(name, attributes)
        classes = values(attributes, 'objectClass').map(&:downcase)
        conflict = values(attributes, 'nsds5ReplConflict').first.to_s
        kind = if classes.include?('glue') || !conflict.match?(ORIGINAL) then 'revived'
               else classes.include?('simpkventry') ? 'key' : 'folder'
               end
        original = kind == 'revived' ? name : conflict[ORIGINAL, 1]
        path = @dns.path(original, kind == 'key' ? :key : :folder)
        Entry.new(name, kind, path, *times(attributes), values(attributes, 'simpkvJsonValue').first)
      end

      def times(attributes)
        time, writer = TIMES.map { |name| values(attributes, name).first }
        [time&.sub(/\A(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(?:\.\d+)?Z\z/, '\1-\2-\3T\4:\5:\6Z'), writer]
      end

      # Servers spell the names of attributes as they like.
      def values(attributes, name)
        attributes.select { |other, _| other.casecmp?(name) }.map(&:last)
      end
    end
  end
end
