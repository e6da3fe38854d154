# frozen_string_literal: true

require 'simpkv/access/grants'
require 'simpkv/access/passwords'
require 'simpkv/access/plan'
require 'simpkv/access/state'

module Simpkv
  module Access
    # The part of a plan that concerns one user, role or binding. Each change by hand belongs to one of them: a missing
    # member to its binding, a member too many and the rules to the role.
    class Part
      NO_RULES = { add: [], delete: [] }.freeze

      # @return [Array<String>] see {Plan#conflicts}
      attr_reader :conflicts

      # @return [Array<String>] those of {Plan#warnings} that concern the object or its section, and about the file of
      #   its password
      attr_reader :warnings

      # @return [Array<Step>] what {StepRunner} has to do
      attr_reader :steps

      # @param state [State::Snapshot]
      # @param from [State::Snapshot] before the change of the object, if that is changed
      # @param observed [Plan::Observed]
      # @param names [Names]
      # @param bound [Hash{String => Array<String>}] the names of the bindings of each role
      # @param object [Array(String, String)] section and name
      # @yieldparam roles [Array<String>] the names of the roles that the object concerns
      # @yieldreturn [Hash] see {Plan#initialize}
      def initialize(state, from, observed, names, bound, object)
        @state = state
        @from = from
        @observed = observed
        @names = names
        @bound = bound
        @section, @name = object
        plan = Plan.new(part, observed, names) { rules? ? yield(roles) : NO_RULES }
        @conflicts = plan.conflicts_of(@section, @name)
        @warnings = warnings_of(plan)
        @steps = @conflicts.empty? ? steps_of(plan) : []
      end

      # @return [Hash{String => String}] see {Plan#stamps}
      def stamps
        @section == 'users' ? @observed.stamps.slice(@name) : {}
      end

      private

      def warnings_of(plan)
        about_files = users.map { |name| @state.users[name] }.compact.map { |user| Passwords.warning(user['password']) }
        plan.warnings_of(@section, @name) + about_files.compact
      end

      # @return [Array<String>] the name of the object, if it is a user
      def users
        @section == 'users' ? [@name] : []
      end

      def steps_of(plan)
        plan.drift.map { |step| step.act == 'members' ? members(step) : step }.select { |step| mine?(step) }
      end

      # @return [State::Snapshot] the documents that have an effect on the object
      def part
        bindings = bindings_of_roles
        users = self.users + bindings.values.flat_map { |binding| binding['users'] }
        State::Snapshot.new(@state.unique_id, @state.users.slice(*users), @state.roles.slice(*roles), bindings,
                            @state.printed)
      end

      # @return [Array<String>] the names of the roles whose entries or rules the object changes
      def roles
        @roles ||= case @section
                   when 'users' then deleting? ? @state.roles.keys.select { |role| added?(role) } : []
                   when 'roles' then [@name]
                   else both('bindings').flat_map { |binding| binding['roles'] }.uniq
                   end
      end

      # @return [Hash{String => Hash}] the bindings of these roles; the object itself with all of its roles, so that one
      #   that is not declared is a conflict
      def bindings_of_roles
        own = @section == 'bindings' ? @state.bindings.slice(@name) : {}
        others = roles.flat_map { |role| @bound[role].to_a }.uniq - own.keys
        own.merge(@state.bindings.slice(*others).transform_values do |binding|
          binding.merge('roles' => binding['roles'] & roles)
        end)
      end

      # @return [Array<Hash>] the documents of the object, and of what it was
      def both(section)
        [@state, @from].map { |state| state[section][@name] }.compact.uniq
      end

      def deleting?
        document = @state[@section][@name]
        !document.nil? && document.key?('deleting')
      end

      def added?(role)
        Names.beyond([@names.user(@name)], @state.roles[role]['added'].to_a).empty?
      end

      # @return [Boolean] whether rules can differ because of the object
      def rules?
        case @section
        when 'users' then false
        when 'roles' then true
        else both('bindings').any? { |binding| binding['groups'].any? } || roles.any? { |role| missing?(role) }
        end
      end

      def missing?(role)
        @state.roles.key?(role) && !@observed.roles.key?(role)
      end

      # @return [Step] with the members that the object adds or removes
      def members(step)
        return step if @section != 'users' && missing?(step.name)

        add, delete = case @section
                      when 'users' then [[], [@names.user(@name)]]
                      when 'roles' then [[], step.data[:delete]]
                      else [@state, @from].map { |state| users_of(state.bindings[@name]) }
                      end
        Step.new(step.act, step.section, step.name,
                 { add: common(step.data[:add], add), delete: common(step.data[:delete], delete) })
      end

      def users_of(binding)
        binding.to_h.fetch('users', []).map { |user| @names.user(user) }
      end

      def common(dns, others)
        dns - Names.beyond(dns, others)
      end

      def mine?(step)
        return step.data.values.any?(&:any?) if step.act == 'members'

        case @section
        when 'users' then step.section == 'users'
        when 'roles' then step.section != 'users'
        else step.act == 'rules' || (step.act == 'create' && step.section == 'roles')
        end
      end
    end
  end
end
