# frozen_string_literal: true

require 'securerandom'
require 'simpkv'

module Simpkv
  module Access
    # Tries the rights of users with binds of their own, in the folders of their roles, and in some of other roles.
    class Verification
      # The most folders of other roles in which a user is tried.
      OTHERS = 10
      private_constant :OTHERS

      # @param store [Store] with all rights
      # @param settings [Hash{String => Object}] of its backend
      # @param foreign [ForeignEntries]
      def initialize(store, settings, foreign)
        @store = store
        @settings = settings
        @foreign = foreign
      end

      # @param plan [Plan]
      # @param passwords [Passwords]
      # @return [Array<String>] what is otherwise than declared
      # @raise [Error]
      def failures(plan, passwords)
        rights = rights(plan)
        prefixes = rights.values.flat_map(&:keys).uniq
        with_probes(prefixes) do |probes|
          rights.flat_map do |name, by_prefix|
            passwords.with_file(plan.state.users[name]['password']) do |file|
              as(plan.names.user(name), file) do |store|
                by_prefix.flat_map { |prefix, wanted| compare(name, prefix, wanted, found(store, probes[prefix])) }
              end
            end
          end
        end + foreign_entries
      end

      private

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

      # Puts a key into each folder meanwhile. Keys are in an environment, so that all of them get one with a key.
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
        store.add_entry(dn, 'objectClass' => ['organizationalUnit'], 'ou' => [name], 'description' => ['a probe'])
      ensure
        @store.delete_entry(dn)
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

      # Those may list on 389-DS who may read. Roles that nobody has declared, and rules of the site, may give more.
      def compare(name, prefix, wanted, found)
        beyond = found - wanted - (wanted.include?('read') ? %w[list] : [])
        lacking = wanted - found
        [*("user #{name}: '#{prefix}': lacks #{lacking.sort.join(', ')}" if lacking.any?),
         *("user #{name}: '#{prefix}': may #{beyond.sort.join(', ')}, which no role says" if beyond.any?)]
      end

      # Opens a store for a user meanwhile.
      def as(dn, password_file)
        store = LdapAccess.open(@settings, 'admin_dn' => dn, 'admin_pw_file' => password_file)
        yield store
      ensure
        store&.close
      end
    end
  end
end
