# frozen_string_literal: true

require 'forwardable'
require 'simpkv/access/grants'
require 'simpkv/access/names'
require 'simpkv/access/narrowing'
require 'simpkv/access/step'

module Simpkv
  module Access
    # The steps that bring a directory to what is declared: a pure function of the state and of what was observed. The
    # steps have an order: an entry exists before it gets rights, and has no rights any more before it is deleted. Each
    # one can be repeated.
    class Plan
      extend Forwardable

      # The folder of {State}.
      STATE = 'globals/estate/access'
      private_constant :STATE

      # The directory, as far as the state concerns it.
      #
      # unique_id:: of the base entry
      # users, roles:: {Entry} by name, of those that exist
      # folders:: prefixes whose folders exist
      # passwords:: by user `:accepted`, `:refused`, or the reason why it is not known
      # groups:: the DNs of bindings that have no entry
      # stamps:: of users whose password was tried and accepted: see `stamp` in {State}
      # foreign:: the DNs of the groups beside the roles that simpkv has not made
      # exclusive:: whether members of simpkv's own roles that no binding wants are to be removed
      # servers:: {VlvFeature::Server}s; nil if they were not looked at
      Observed = Struct.new(:unique_id, :users, :roles, :folders, :passwords, :stamps, :groups, :foreign, :exclusive,
                            :servers)

      # uid:: the UUID in the entry; nil for none
      # member:: the DNs in a role
      # version:: differs after a change of the entry
      Entry = Struct.new(:uid, :member, :version)

      # A conflict or a warning.
      #
      # section, name:: the user, role or binding; nil for the directory, or for all of the section
      Note = Struct.new(:section, :name, :text)
      private_constant :Note

      # @return [State::Snapshot]
      attr_reader :state

      # @return [Observed]
      attr_reader :observed

      # @return [Names]
      attr_reader :names

      # @return [Narrowing]
      attr_reader :narrowing

      # @return [Array<Step>] what differs, even if there are conflicts
      attr_reader :drift

      # @param state [State::Snapshot]
      # @param observed [Observed]
      # @param names [Names]
      # @yieldparam grants [Array<Grant>]
      # @yieldparam foreign [Array<String>] `foreign` of {Observed}
      # @yieldreturn [Hash] `add` and `delete`, the rules that the server lacks and those that it has beyond them; and
      #   perhaps `warnings`, `by_hand`: whether an administrator has to change them, and `additions`: see {ServerRules}
      def initialize(state, observed, names, &rules)
        @state = state
        @observed = observed
        @names = names
        @grants = Grants.new(state, observed, names)
        @narrowing = Narrowing.new(state, observed.servers)
        @conflicts = conflicts_of_directory + conflicts_of_users + conflicts_of_roles + conflicts_of_bindings
        @warnings = warnings_of_users + warnings_of_roles + warnings_of_bindings +
                    @narrowing.warnings.map { |text| Note.new(nil, nil, text) }
        @drift = planned(&rules)
      end

      # @return [Boolean] whether an administrator has to change the rules
      def by_hand?
        @by_hand ? true : false
      end

      # @return [Array<String>] the reasons to change nothing
      def conflicts
        @conflicts.map(&:text)
      end

      # @param section [String]
      # @param name [String] of a user, role or binding
      # @return [Array<String>] the reasons that concern it, or the directory as a whole
      def conflicts_of(section, name)
        @conflicts.select { |each| each.section.nil? || [each.section, each.name] == [section, name] }.map(&:text)
      end

      # @return [Array<String>]
      def warnings
        @warnings.map(&:text)
      end

      # @param section [String]
      # @param name [String] of a user, role or binding
      # @return [Array<String>] the warnings that concern it, or its section as a whole
      def warnings_of(section, name)
        @warnings.select { |each| each.section == section && [nil, name].include?(each.name) }.map(&:text)
      end

      # @return [Array<Step>] what {StepRunner} has to do; none if there are conflicts
      def steps
        conflicts.empty? ? drift : []
      end

      # @return [Hash{String => String}] `stamps` of {Observed} that the state lacks
      def stamps
        @observed.stamps
      end

      # @!method grants
      #   @return [Array<Grant>] what the rules of the server have to say
      def_delegator :@grants, :all, :grants

      # See {Grants}.
      def_delegators :@grants, :existing?, :ours?, :bound, :undeclared_members

      private

      def conflicts_of_directory
        return [] if [nil, @observed.unique_id].include?(@state.unique_id)

        [Note.new(nil, nil, 'this is another directory: its base entry has the unique id ' \
                            "'#{@observed.unique_id}', and the state is that of the directory with " \
                            "'#{@state.unique_id}'")]
      end

      def conflicts_of_users
        @state.users.reject { |_, user| user['deleting'] && user['uid'].nil? }.flat_map do |name, user|
          entry = @observed.users[name]
          if entry
            ours?(entry, user) ? [] : [foreign('users', name, @names.user(name), entry)]
          else
            unreadable(name, user)
          end
        end
      end

      def unreadable(name, user)
        why = @observed.passwords[name]
        return [] if user['deleting'] || why.nil? || why.is_a?(Symbol)

        [Note.new('users', name, "users.#{name}.password: #{why}")]
      end

      def conflicts_of_roles
        @state.roles.flat_map do |name, role|
          entry = @observed.roles[name]
          next [] unless entry && role['status'] == 'ours' && !ours?(entry, role)

          [foreign('roles', name, @names.role(name), entry)]
        end
      end

      def foreign(section, name, dn, entry)
        kind = section.chomp('s')
        has = entry.uid ? 'the UID of another declaration' : 'no UID of simpkv'
        Note.new(section, name, "#{kind} #{name}: the entry '#{dn}' has #{has}: rename the #{kind}, or remove " \
                                'the entry by hand')
      end

      def conflicts_of_bindings
        @state.bindings.flat_map do |name, binding|
          %w[users roles].flat_map do |section|
            binding[section].reject { |each| declared?(section, each) }.map { |each| undeclared(name, section, each) }
          end
        end
      end

      def undeclared(binding, section, name)
        kind = section.chomp('s')
        Note.new('bindings', binding, "bindings.#{binding}.#{section}: the #{kind} '#{name}' is not declared, or " \
                                      'is to be deleted')
      end

      def declared?(section, name)
        document = @state[section][name]
        !document.nil? && !document['deleting']
      end

      def warnings_of_users
        unknown = @observed.passwords.select { |name, result| @observed.users[name] && result.is_a?(String) }
        unknown.map do |name, why|
          Note.new('users', name, "users.#{name}.password: #{why}: it is not known whether the server has it")
        end
      end

      def warnings_of_roles
        live(@state.roles).flat_map do |name, role|
          texts = if existing?(name) then warnings_of_existing(name, role)
                  else warnings_of_grants(role) + warnings_of_members(name)
                  end
          texts.map { |text| Note.new('roles', name, "roles.#{name}: #{text}") }
        end
      end

      def warnings_of_existing(name, role)
        groups = bound(name, 'groups').any?
        [*('it existed before, so its rights stay as they are' if role['grants'].any?),
         *('it existed before, and a group needs a rule of its own: no group is bound' if groups)]
      end

      def warnings_of_members(name)
        (@observed.exclusive ? [] : undeclared_members(name)).map do |dn|
          "no binding has its member '#{dn}': declare it, remove it, or set 'undeclared_members: remove' of 'access'"
        end
      end

      # A member of such a role could make the next apply delete entries and members of others.
      def warnings_of_grants(role)
        prefixes = role['grants'].select { |_, rights| rights.include?('write') }.keys.select do |prefix|
          "#{STATE}/".start_with?("#{prefix}/") || prefix.start_with?("#{STATE}/")
        end
        prefixes.map { |prefix| "'#{prefix}' has the state of access control: name folders beside it" }
      end

      def warnings_of_bindings
        @state.bindings.flat_map do |name, binding|
          (binding['groups'] & @observed.groups).map do |dn|
            Note.new('bindings', name, "bindings.#{name}.groups: there is no entry '#{dn}'")
          end
        end
      end

      def planned(&rules)
        users = live(@state.users)
        roles = live(@state.roles)
        users.flat_map { |name, _| user_steps(name) } + roles.flat_map { |name, role| role_steps(name, role) } +
          folder_steps + right_steps(&rules) + deletions('roles') + deletions('users') + @narrowing.steps
      end

      # A user who moves from one role to another has the rights of one of them at any time: rules and members are added
      # before others go.
      def right_steps(&rules)
        changes = @state.roles.map { |name, role| [name, member_changes(name, role)] }
        add = member_steps(changes, :add)
        delete = member_steps(changes, :delete)
        first, last = rule_steps(add.any?, &rules)
        [*first, *add, *delete, *last]
      end

      def live(documents)
        documents.reject { |_, document| document['deleting'] }
      end

      def user_steps(name)
        return [step('create', 'users', name), step('password', 'users', name)] unless @observed.users[name]

        @observed.passwords[name] == :refused ? [step('password', 'users', name)] : []
      end

      def role_steps(name, role)
        entry = @observed.roles[name]
        return role['status'] == 'existing' ? [] : [step('create', 'roles', name)] unless entry
        return [] unless @grants.fresh?(role)

        [step(ours?(entry, role) ? 'adopt' : 'keep', 'roles', name)]
      end

      def folder_steps
        (grants.map { |grant| grant.prefix.chomp('/*') }.uniq - @observed.folders).sort.map do |prefix|
          step('folder', nil, prefix)
        end
      end

      # @return [Array(Array<Step>, Array<Step>)] those before the members are changed, and those afterwards
      def rule_steps(moving)
        changes = yield(grants, @observed.foreign)
        @warnings += changes.fetch(:warnings, []).map { |role, text| Note.new('roles', role, text) }
        @by_hand = changes[:by_hand]
        return [rules_steps(changes), []] unless moving && !by_hand? && changes[:additions]

        [rules_steps(changes.merge(delete: [], changes: changes[:additions])),
         rules_steps(changes.merge(add: [], later: true))]
      end

      # @return [Array<Step>] one, or none
      def rules_steps(changes)
        changes.values_at(:add, :delete).all?(&:empty?) ? [] : [step('rules', nil, nil, changes)]
      end

      # @return [Hash] the DNs to `add` and to `delete`
      def member_changes(name, role)
        entry = @observed.roles[name]
        return { add: [], delete: [] } unless existing?(name) ? entry : !role['deleting']

        wanted = role['deleting'] ? [] : @grants.members(name)
        present = entry ? entry.member : []
        surplus = @observed.exclusive ? undeclared_members(name) : []
        { add: Names.beyond(wanted, present), delete: Names.beyond(role['added'].to_a, wanted) + surplus }
      end

      # @param kind [Symbol] `:add` or `:delete`
      def member_steps(changes, kind)
        changes.reject { |_, change| change[kind].empty? }.map do |name, change|
          step('members', 'roles', name, { add: [], delete: [] }.merge(kind => change[kind]))
        end
      end

      def deletions(section)
        @state[section].select { |_, document| document['deleting'] }.flat_map do |name, document|
          entry = @observed[section][name]
          delete = entry && ours?(entry, document) && document['status'] != 'existing'
          [(step('delete', section, name) if delete), step('forget', section, name)].compact
        end
      end

      def step(act, section, name, data = nil)
        Step.new(act, section, name, data)
      end
    end
  end
end
