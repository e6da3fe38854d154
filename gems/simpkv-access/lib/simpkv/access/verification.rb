# frozen_string_literal: true

require 'securerandom'
require 'simpkv'
require 'simpkv/backend/vlv_feature'
require 'simpkv/access/passwords'
require 'tempfile'

module Simpkv
  module Access
    # Tries the rights of users with binds of their own, in the folders of their roles, and in some of other roles; and
    # those of a user without roles, which it adds meanwhile.
    class Verification
      # The most folders of other roles in which a user is tried.
      OTHERS = 10

      # The folder of the key for a user without roles.
      EVERYWHERE = 'globals'
      private_constant :OTHERS, :EVERYWHERE

      # @param store [Store] with all rights
      # @param settings [Hash{String => Object}] of its backend
      # @param foreign [ForeignEntries]
      # @param names [Names]
      # @param server [String] `389ds` or `openldap`
      def initialize(store, settings, foreign, names, server)
        @store = store
        @settings = settings
        @foreign = foreign
        @names = names
        @server = server
      end

      # @param plan [Plan]
      # @param passwords [Passwords]
      # @return [Array<String>] what is otherwise than declared
      # @raise [Error]
      def failures(plan, passwords)
        rights = rights(plan)
        prefixes = rights.values.flat_map(&:keys)
        with_probes(prefixes | [EVERYWHERE]) do |probes|
          tried = rights.flat_map do |name, by_prefix|
            passwords.with_file(plan.state.users[name]['password']) do |file|
              differences(name, file, by_prefix, probes)
            end
          end
          tried + (views? ? stranger(probes.fetch(EVERYWHERE)) : [])
        end + open_servers(plan) + foreign_entries
      end

      private

      # @return [Array<String>]
      def open_servers(plan)
        plan.observed.servers.to_a.select { |server| server.state == :open }.map(&:why)
      end

      # @return [Array<String>] what a user has beyond its rights, or lacks
      def differences(name, file, by_prefix, probes)
        user = identity(@names.user(name), file)
        LdapAccess.with_store(user) do |store|
          by_prefix.flat_map do |prefix, wanted|
            leak = leak("user #{name}", user, probes[prefix]) if views? && (wanted & %w[read list]).empty?
            [*compare(name, prefix, wanted, found(store, probes[prefix])), *leak]
          end
        end
      end

      # @param key [String]
      # @return [Array<String>] what a user without roles finds out
      def stranger(key)
        name = "simpkv-probe-#{SecureRandom.hex(8)}"
        password = Passwords.random
        @store.directory.add_entry(@names.user(name),
                                   'objectClass' => %w[top account simpleSecurityObject], 'uid' => [name],
                                   'userPassword' => [password])
        Tempfile.create('simpkv') do |file|
          file.write(password)
          file.close
          [*leak('a user without roles', identity(@names.user(name), file.path), key)]
        end
      ensure
        @store.directory.delete_entry(@names.user(name))
      end

      # @return [Boolean] see {VlvFeature.offered?}
      def views?
        @views = VlvFeature.offered?(@store) if @views.nil?
        @views
      end

      # @param user [Hash{String => Object}] the settings of the backend with the identity of a user
      # @param key [String] a probe that the user may neither read nor list
      # @return [String, nil]
      def leak(who, user, key)
        dn = Native.dn_from_path(user['layout'].to_sym, :key, *user.values_at('base_dn', 'id'), key)
        return unless VlvFeature.shows?(user, dn, @server)

        "#{who}: '#{File.dirname(key)}': may find out values (virtual list views)"
      end

      def identity(name, password_file)
        @settings.merge('admin_dn' => name, 'admin_pw_file' => password_file)
      end

      # @return [Hash] the rights by user and folder, those of folders around it included
      def rights(plan)
        known = plan.observed.users.keys.select { |name| plan.observed.passwords[name] == :accepted }
        all = plan.grants.map { |grant| grant.prefix.chomp('/*') }.uniq
        known.to_h do |name|
          grants = grants_of(plan, name)
          tried = grants.keys | (all - grants.keys).sample(OTHERS)
          [name, tried.to_h { |prefix| [prefix, rights_on(prefix, grants)] }]
        end
      end

      def rights_on(prefix, grants)
        grants.select { |other, _| "#{prefix}/".start_with?("#{other}/") }.values.flatten.uniq
      end

      def grants_of(plan, user)
        grants = plan.grants.select { |grant| plan.bound(grant.role, 'users').include?(user) }
        grants.group_by { |grant| grant.prefix.chomp('/*') }.transform_values { |same| same.flat_map(&:rights) }
      end

      # Puts a key into each folder while the block runs. For `environments`, the key gets an environment of its own,
      # because keys are only in environments.
      def with_probes(prefixes)
        name = "simpkv-probe-#{SecureRandom.hex(8)}"
        probes = prefixes.to_h { |prefix| [prefix, "#{prefix}/#{name}#{"/#{name}" if prefix == 'environments'}"] }
        probes.each_value { |key| @store.put(key, Codec.encode(1)) }
        yield probes
      ensure
        probes.to_h.each_value { |key| @store.delete(key) }
        @store.deletetree("environments/#{name}") if probes.to_h.key?('environments')
      end

      # @return [Array<String>] the rights that a store has
      def found(store, key)
        { 'read' => -> { store.get(key) }, 'list' => -> { store.list(File.dirname(key)) },
          'write' => -> { store.put(key, Codec.encode(SecureRandom.hex(8))) },
          'add entries that simpkv does not make' => -> { adds_foreign?(store, key) } }
          .select { |_, try| allowed?(&try) }.keys
      end

      # @return [Boolean] whether a store may add a folder with an attribute that simpkv does not write
      def adds_foreign?(store, key)
        name = "simpkv-probe-#{SecureRandom.hex(8)}"
        dn = "ou=#{name},#{LdapAccess.folder_dn(@settings, File.dirname(key))}"
        store.directory.add_entry(dn, 'objectClass' => ['organizationalUnit'], 'ou' => [name],
                                      'description' => ['a probe'])
      ensure
        @store.directory.delete_entry(dn)
      end

      # @return [Array<String>]
      def foreign_entries
        @foreign.all.map { |entry| "entry '#{entry.dn}': #{entry.why}; to delete it: #{@foreign.deletion(entry)}" }
      end

      def allowed?
        yield && true
      rescue DeniedError, NotFoundError, UnavailableError
        false
      end

      # On 389-DS, an identity that may read may also list. Roles that nobody has declared, and rules of the site, may
      # give more.
      def compare(name, prefix, wanted, found)
        beyond = found - wanted - (wanted.include?('read') ? %w[list] : [])
        lacking = wanted - found
        [*("user #{name}: '#{prefix}': lacks #{lacking.sort.join(', ')}" if lacking.any?),
         *("user #{name}: '#{prefix}': may #{beyond.sort.join(', ')}, which no role says" if beyond.any?)]
      end
    end
  end
end
