# frozen_string_literal: true

require 'simpkv/access/grant'

module Simpkv
  module Access
    # The rights that roles give, and the users and groups that bindings bind to them, as the state has them.
    class Grants
      # @param state [State::Snapshot]
      # @param observed [Plan::Observed]
      # @param names [Names]
      def initialize(state, observed, names)
        @state = state
        @observed = observed
        @names = names
      end

      # @return [Array<Grant>] what the rules of the server have to say
      def all
        ours = @state.roles.reject { |name, role| role['deleting'] || existing?(name) }
        ours.flat_map { |name, role| of(name, role) }
      end

      # @param name [String]
      # @param role [Hash] its document
      # @return [Array<Grant>] of one role
      def of(name, role)
        groups = [@names.role(name), *bound(name, 'groups')]
        role['grants'].map { |prefix, rights| Grant.new(role: name, prefix: prefix, rights: rights, groups: groups) }
      end

      # @param name [String] of a role
      # @return [Boolean] whether its entry was there before it was declared
      def existing?(name)
        role = @state.roles.fetch(name)
        return role['status'] == 'existing' unless fresh?(role)

        entry = @observed.roles[name]
        !entry.nil? && !ours?(entry, role)
      end

      # @return [Boolean] whether nothing was noted about the entry of a role yet
      def fresh?(role)
        ['new', nil].include?(role['status'])
      end

      # @return [Boolean] whether the entry of a user or role has the UUID of its document
      def ours?(entry, document)
        !entry.uid.nil? && entry.uid == document['uid']
      end

      # @param role [String]
      # @param list [String] `users` or `groups`
      # @return [Array<String>] what bindings bind to a role
      def bound(role, list)
        @bound ||= @state.bindings.values.each_with_object(Hash.new { |all, name| all[name] = [] }) do |binding, all|
          binding['roles'].each { |name| all[name] << binding }
        end
        @bound[role].flat_map { |binding| binding[list] }.uniq.sort
      end

      # @param role [String]
      # @return [Array<String>] the DNs of the users that bindings bind to a role
      def members(role)
        bound(role, 'users').map { |name| @names.user(name) }
      end

      # @param role [String]
      # @return [Array<String>] the DNs in a role of simpkv that neither a binding wants nor simpkv has added
      def undeclared_members(role)
        document = @state.roles.fetch(role)
        entry = @observed.roles[role]
        return [] if entry.nil? || document['deleting'] || existing?(role)

        # The entry itself is its first member: a groupOfNames needs one.
        Names.beyond(entry.member, [@names.role(role), *document['added'].to_a, *members(role)])
      end
    end
  end
end
