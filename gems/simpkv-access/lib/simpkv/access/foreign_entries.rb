# frozen_string_literal: true

require 'simpkv'
require 'simpkv/access/ldap_rules/own_entries'
require 'simpkv/backend/ldap_search'

module Simpkv
  module Access
    # Finds the entries among keys and folders that simpkv does not make, and that a writer could add before the rules
    # refused them: with another object class, attribute or name (docs/adr/0050).
    class ForeignEntries
      # An entry, and what is foreign about it.
      Entry = Struct.new(:dn, :why)

      # Referrals are entries here (-MM). Searches show other hidden entries only if a filter or a control names them.
      ALL = '(|(objectClass=*)(objectClass=ldapSubEntry))'
      PAGES = %w[-MM -E pr=1000/noprompt].freeze
      SUBENTRIES = %w[-MM -E !subentries=true].freeze

      # The control of 389-DS that leaves out the values of classes of service.
      REAL = %w[-E !2.16.840.1.113730.3.4.17].freeze

      # Replication gives this name to one of two entries: see Cli::ConflictEntries.
      CONFLICT = /\Ansuniqueid=/i.freeze

      # The name of an entry, at the beginning of its DN.
      NAME = /\A(?:\\.|[^,\\])*/m.freeze
      private_constant :ALL, :PAGES, :SUBENTRIES, :REAL, :CONFLICT, :NAME

      # @param store [Store] of type ldap
      # @param settings [Hash{String => Object}] of its backend
      # @param server [String] `389ds` or `openldap`
      # @param path [String, nil] of the only folder to look at
      def initialize(store, settings, server, path = nil)
        @store = store
        @settings = settings
        @server = server
        base = path ? LdapAccess.folder_dn(settings, path) : LdapAccess.instance_dn(settings)
        @place = settings.merge('base_dn' => base)
      end

      # @return [Array<Entry>] the outermost first
      # @raise [Error] the server does not show its schema, or ldapsearch is missing or failed
      def all
        found = reasons.merge(attributes) { |_, ours, others| ours + others }
        found.map { |dn, all| Entry.new(dn, all.join(', ')) }.sort_by { |entry| [entry.dn.length, entry.dn] }
      end

      # @param entry [Entry]
      # @return [String] the command line that deletes it, unless there are entries below it
      def deletion(entry)
        LdapAccess.deletion(@settings, entry.dn, %w[-M])
      end

      # @return [String] the command line that lists all entries, with their classes
      def command
        LdapSearch.command(@place, [*PAGES, ALL, 'objectClass'])
      end

      private

      # @return [Hash{String => Array<String>}] by DN, what is foreign in object classes, name and place
      def reasons
        classes = classes_of_all
        found = classes.to_h do |dn, names|
          [dn, foreign_classes(names) + foreign_names(dn) + foreign_places(dn, classes)]
        end
        found.reject { |_, all| all.empty? }
      end

      # @return [Hash{String => Array<String>}] the object classes of all entries
      def classes_of_all
        found = search([*PAGES, ALL, 'objectClass'])
        return {} if found.empty? && missing?

        found += search([*SUBENTRIES, '(objectClass=*)', 'objectClass']) unless ds389?
        found.to_h { |dn, lines| [dn, lines.map(&:last)] }
      end

      # @return [Boolean] true if nothing has been stored yet: the identity sees the base entry, and none below it
      # @raise [DeniedError] the identity does not see enough to know
      def missing?
        @store.directory.read_entry(@place['base_dn'], %w[1.1]) if LdapAccess.base(@store) == :visible
        raise DeniedError, "the identity sees no entry of '#{@place['base_dn']}'"
      rescue NotFoundError
        true
      end

      # @return [Hash{String => Array<String>}] by DN, what is foreign in attributes
      def attributes
        names = OwnEntries.foreign_attributes(@store, layout)
        filter = "(&#{ALL}(|#{names.map { |name| "(#{name}=*)" }.join}))"
        found = search([*PAGES, *(REAL if ds389?), '-A', filter, *names]).reject { |_, lines| lines.empty? }
        found.to_h { |dn, lines| [dn, lines.map(&:first).uniq.map { |name| "it has the attribute #{name}" }] }
      end

      def search(words)
        LdapSearch.run(@place, words).reject { |dn, _| dn.match?(CONFLICT) }
      end

      def foreign_classes(names)
        beyond(names, OwnEntries::CLASSES).map { |name| "it has the object class #{name}" }
      end

      def foreign_names(dn)
        beyond(types(dn), OwnEntries::NAMES).map { |name| "its name is a #{name}" }
      end

      # A key has no entries below it.
      def foreign_places(dn, classes)
        above = classes.fetch(dn.sub(NAME, '').delete_prefix(','), [])
        above.any? { |name| name.casecmp?('simpkvEntry') } ? ['it is below a key'] : []
      end

      def beyond(names, own)
        own = own.fetch(layout).map(&:downcase)
        names.reject { |name| own.include?(name.downcase) }
      end

      # @return [Array<String>] the attributes in the name of an entry
      def types(dn)
        dn[NAME].split(/(?<!\\)\+/).map { |part| part[/\A[^=]*/].strip }
      end

      def layout
        @settings['layout']
      end

      def ds389?
        @server == '389ds'
      end
    end
  end
end
