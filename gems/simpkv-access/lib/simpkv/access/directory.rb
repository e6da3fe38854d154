# frozen_string_literal: true

require 'simpkv'
require 'simpkv/access/foreign_entries'
require 'simpkv/access/names'
require 'simpkv/access/passwords'
require 'simpkv/access/plan'
require 'simpkv/access/ldap_rules/server_rules'
require 'simpkv/backend/vlv_feature'
require 'simpkv/access/verification'

module Simpkv
  module Access
    # The entries and rules of a directory that access control concerns. Each change can be repeated.
    class Directory
      # The attribute that tells directories apart, by the kind of server.
      UNIQUE_ID = { '389ds' => 'nsUniqueId', 'openldap' => 'entryUUID' }.freeze

      # The attribute that each change of an entry changes.
      VERSION = { '389ds' => 'modifyTimestamp', 'openldap' => 'entryCSN' }.freeze
      private_constant :UNIQUE_ID, :VERSION

      # @return [Names]
      attr_reader :names

      # @param store [Store] of type ldap
      # @param settings [Hash{String => Object}] of its backend
      # @param options [Hash{String => Object}] of `access`
      # @return [Directory]
      # @raise [ConfigError] users or roles would be among the keys
      def self.configured(store, settings, options)
        refuse_entries_among_keys(settings['base_dn'], options)
        new(store, settings, Names.new(*options.values_at('users_dn', 'roles_dn')), options)
      end

      # A role on a folder there would have rights on the entries of users and roles.
      def self.refuse_entries_among_keys(base_dn, options)
        base = ",#{Names.normalized(base_dn)}"
        name = %w[users_dn roles_dn].find { |option| ",#{Names.normalized(options[option])}".end_with?(base) }
        return unless name

        raise ConfigError, "'#{name}' of 'access' is inside the 'base_dn' of the backend, '#{base_dn}', where keys " \
                           'are: name an entry beside it'
      end
      private_class_method :refuse_entries_among_keys

      # @param store [Store] of type ldap
      # @param settings [Hash{String => Object}] of its backend
      # @param names [Names]
      # @param options [Hash{String => Object}] of `access`
      def initialize(store, settings, names, options)
        @store = store
        @entries = store.directory
        @settings = settings
        @names = names
        @options = options
      end

      # @return [String] `389ds` or `openldap`
      def server
        @server ||= begin
          root = @entries.read_entry('', %w[vendorName vendorVersion])
          root.values.flatten.any? { |text| text.start_with?('389') } ? '389ds' : 'openldap'
        end
      end

      # @param state [State::Snapshot]
      # @return [Plan::Observed] without passwords
      # @raise [NotFoundError] there is no entry `users_dn` or `roles_dn`
      # @raise [Error]
      def observe(state)
        users = named('users', state.users, entries('users', @names.users_dn))
        found = entries('roles', @names.roles_dn)
        roles = named('roles', state.roles, found)
        groups = found.reject { |_, entry| entry.uid }.keys
        Plan::Observed.new(unique_id, users, roles, folders(state.roles.values), {}, {}, missing(state), groups,
                           @options['undeclared_members'] == 'remove')
      end

      # Binds once as the user, unless the same password was accepted and neither its file nor the entry has changed.
      #
      # @param observed [Plan::Observed] receives the result
      # @param name [String]
      # @param user [Hash] the document
      # @param passwords [Passwords]
      # @return [void]
      def observe_password(observed, name, user, passwords)
        entry = observed.users[name]
        stamp = stamp(entry, user, passwords)
        accepted = (stamp && stamp == user['stamp']) || accepted?(name, entry, passwords.read(user['password']))
        observed.passwords[name] = accepted ? :accepted : :refused
        observed.stamps[name] = stamp if accepted && stamp != user['stamp']
      rescue Error => e
        observed.passwords[name] = e.message
      end

      # @return [String] of the base entry
      def unique_id
        attribute = UNIQUE_ID.fetch(server)
        values(@entries.read_entry(@settings['base_dn'], [attribute]), attribute).first ||
          raise(DeniedError, "the identity may not read '#{attribute}' of '#{@settings['base_dn']}'")
      end

      # @param uid [String] its UUID
      # @return [Boolean] whether the entry has this UUID now; false if there is an entry with another one, or none
      def create(section, name, uid)
        dn = @names.dn(section, name)
        attributes = section == 'users' ? user(name) : role(name, dn)
        @entries.add_entry(dn, attributes.merge('description' => ["#{Names::UID}#{uid}"])) || uid?(section, name, uid)
      end

      # Deletes the entry of a user or role, if it has this UUID.
      #
      # @return [Boolean] whether there is no such entry any more
      def delete(section, name, uid)
        found = entry(section, name)
        return true unless found
        return false unless found.uid == uid

        @entries.delete_entry(@names.dn(section, name))
        true
      end

      # @return [void]
      def set_password(name, password)
        @entries.set_entry_password(@names.user(name), password)
      end

      # Adds members to a role, and removes members from it.
      #
      # @param change [Hash] `add` and `delete`, DNs
      # @return [void]
      # @raise [ConflictError] another client has changed the members meanwhile
      def change_members(name, change)
        present = entry('roles', name)&.member || []
        delete = Names.beyond(present, Names.beyond(present, change[:delete]))
        add = Names.beyond(change[:add], present)
        changes = [[:delete, 'member', delete], [:add, 'member', add]].reject { |*, list| list.empty? }
        return if changes.empty? || @entries.modify_entry(@names.role(name), changes)

        raise ConflictError, "another client has changed the members of '#{@names.role(name)}'"
      end

      # @return [Boolean]
      def create_folder(prefix)
        @store.create_folder(prefix)
      end

      # @return [Boolean] whether there is a folder of keys with this path
      def folder?(prefix)
        @store.kind(prefix) == :folder
      end

      # @return [Plan::Entry, nil]
      def entry(section, name)
        attributes = @entries.read_entry(@names.dn(section, name), ['description', 'member', VERSION.fetch(server)])
        to_entry(attributes)
      rescue NotFoundError
        nil
      end

      # @return [ServerRules]
      def rules
        @rules ||= ServerRules.new(@store, @settings, @names, @options, server)
      end

      # @return [VlvFeature, nil] nil on a server without it
      def feature
        VlvFeature.new(@settings) if server == '389ds'
      end

      # @return [Verification]
      def verification
        Verification.new(@store, @settings, ForeignEntries.new(@store, @settings, server), @names, server)
      end

      private

      # @return [Array<String>] the prefixes of roles whose folders exist
      def folders(roles)
        prefixes = roles.flat_map { |role| role['grants'].keys }.map { |prefix| prefix.chomp('/*') }.uniq
        prefixes.select { |prefix| folder?(prefix) }
      end

      # @return [Array<String>] the DNs of groups in bindings that have no entry
      def missing(state)
        state.bindings.values.flat_map { |binding| binding['groups'] }.uniq.reject { |dn| entry_at?(dn) }
      end

      def entry_at?(dn)
        @entries.read_entry(dn, %w[1.1]) && true
      rescue NotFoundError
        false
      end

      def uid?(section, name, uid)
        entry(section, name)&.uid == uid
      end

      # The password is set in a step of its own: see {#set_password}.
      def user(name)
        { 'objectClass' => %w[top account simpleSecurityObject], 'uid' => [name],
          'userPassword' => [Passwords.random] }
      end

      # A groupOfNames needs a member. The role itself is one that never binds.
      def role(name, dn)
        { 'objectClass' => %w[top groupOfNames], 'cn' => [name], 'member' => [dn] }
      end

      # @return [Hash{String => Plan::Entry}] the entries of declared names that exist
      def named(section, declared, entries)
        by_name = entries.transform_keys { |dn| @names.name(section, dn) }
        declared.keys.select { |name| by_name.key?(name) }.to_h { |name| [name, by_name[name]] }
      end

      # @return [Hash{String => Plan::Entry}] all entries by DN
      def entries(section, folder)
        found = @entries.entries(folder, ['description', 'member', VERSION.fetch(server)])
        found.transform_values { |attributes| to_entry(attributes) }
      rescue NotFoundError => e
        raise NotFoundError, "#{e.message}: the option '#{section}_dn' of 'access' must name an entry that exists",
              cause: nil
      end

      def to_entry(attributes)
        uids = values(attributes, 'description').select { |text| text.start_with?(Names::UID) }
        Plan::Entry.new(uids.length == 1 ? uids.first.delete_prefix(Names::UID) : nil, values(attributes, 'member'),
                        values(attributes, VERSION.fetch(server)).first)
      end

      def values(attributes, name)
        attributes.find { |key, _| key.casecmp?(name) }&.last.to_a
      end

      # @return [String, nil] differs after a change of the password's file or of the entry; nil if that is not known
      def stamp(entry, user, passwords)
        file = passwords.stamp(user['password'])
        "#{file} #{entry.version}" if entry&.version && file
      end

      def accepted?(name, entry, password)
        entry.nil? || @entries.password?(@names.user(name), password)
      end
    end
  end
end
