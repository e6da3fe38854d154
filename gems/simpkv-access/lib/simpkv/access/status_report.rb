# frozen_string_literal: true

module Simpkv
  module Access
    # The state of each declared user, role and binding, and what was changed by hand: a pure function of a plan.
    class StatusReport
      # kind:: `user`, `role`, `binding`, `rules`, or `server` if server-wide rules were to be deleted
      # state:: `present`, `existing`, `missing`, `foreign`, `deleting`; `unknown` for rules that cannot be read; for a
      #         server `open`, `closed` or `unknown`
      # notes:: what differs from what is declared
      Row = Struct.new(:kind, :name, :state, :notes)

      # @param plan [Plan] of the state alone
      def initialize(plan)
        @plan = plan
        @members = plan.drift.select { |step| step.act == 'members' }.group_by(&:name).transform_values do |steps|
          steps.map(&:data).reduce { |one, other| one.merge(other) { |_, first, last| first + last } }
        end
      end

      # @return [Array<Row>] in the order of the kinds above
      def rows
        objects + [rules_row] + server_rows
      end

      # @return [Array<Row>] without the rules, which a {Reading#outline} does not have
      def objects
        state = @plan.state
        state.users.map { |name, user| Row.new('user', name, user_state(name, user), user_notes(name)) } +
          state.roles.map { |name, role| Row.new('role', name, role_state(name, role), role_notes(name)) } +
          state.bindings.map { |name, binding| binding_row(name, binding) }
      end

      # @return [Boolean] whether something differs from what is declared, also what {StepRunner} leaves alone
      def differs?
        @plan.steps.any? || server_rows.any? { |row| row.state != 'closed' } ||
          @plan.state.roles.keys.any? { |name| @plan.undeclared_members(name).any? }
      end

      private

      def user_state(name, user)
        entry = @plan.observed.users[name]
        return entry_state(entry, user) unless entry && @plan.ours?(entry, user)

        user['deleting'] ? 'deleting' : 'present'
      end

      def user_notes(name)
        password = @plan.observed.passwords[name]
        return [] unless @plan.observed.users[name]

        { nil => [], accepted: [], refused: ['the server refuses the password'] }
          .fetch(password) { ["the password is not known here: #{password}"] }
      end

      def role_state(name, role)
        entry = @plan.observed.roles[name]
        return entry ? 'existing' : 'missing' if @plan.existing?(name)
        return entry_state(entry, role) unless entry && @plan.ours?(entry, role)

        role['deleting'] ? 'deleting' : 'present'
      end

      def entry_state(entry, document)
        return 'foreign' if entry

        document['deleting'] ? 'deleting' : 'missing'
      end

      def role_notes(name)
        remove = @members.fetch(name, {}).fetch(:delete, [])
        remove.map { |dn| "member to remove: #{dn}" } +
          (@plan.undeclared_members(name) - remove).map { |dn| "member that no binding has: #{dn}" }
      end

      def binding_row(name, binding)
        dns = binding['users'].map { |user| @plan.names.user(user) }
        notes = binding['roles'].flat_map do |role|
          (dns & @members.fetch(role, {}).fetch(:add, [])).map { |dn| "role #{role} lacks the member #{dn}" }
        end
        Row.new('binding', name, notes.empty? ? 'present' : 'missing', notes)
      end

      def server_rows
        @plan.narrowing.servers.map do |server|
          state = server.state.is_a?(Symbol) ? server.state.to_s : 'unknown'
          Row.new('server', server.uri, state, [server.warning].compact)
        end
      end

      def rules_row
        notes = @plan.drift.select { |step| step.act == 'rules' }.flat_map do |step|
          step.data[:add].map { |rule| "missing: #{rule}" } + step.data[:delete].map { |rule| "to remove: #{rule}" }
        end
        return Row.new('rules', nil, 'unknown', ["the identity may not read 'cn=config'", *notes]) if @plan.by_hand?

        Row.new('rules', nil, notes.empty? ? 'present' : 'missing', notes)
      end
    end
  end
end
