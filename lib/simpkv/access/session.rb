# frozen_string_literal: true

require 'simpkv/access/excerpt'
require 'simpkv/access/passwords'
require 'simpkv/access/reconciler'

module Simpkv
  module Access
    # Compares and changes single users, roles and bindings, for a run of Puppet, which may skip each of them, or only
    # show it (docs/adr/0045). Reads the state and the directory once, and after a change the objects that it concerned.
    # Finds the conflicts of all declarations of the run together. As in {Reconciler}, nothing is changed if there is
    # one, and a declaration is stored before it is carried out.
    class Session
      # The number of times that a change is planned again when somebody else was faster.
      ROUNDS = 10

      # One declaration, for {State::Snapshot#with}.
      One = Struct.new(:users, :roles, :bindings)
      NOTHING = State::Snapshot.new(nil, {}, {}, {}, []).freeze
      private_constant :ROUNDS, :One, :NOTHING

      # @return [State::Snapshot] as it is in the store
      attr_reader :state

      # @param state [State]
      # @param directory [Directory]
      # @param passwords [Passwords]
      # @yieldparam snapshot [State::Snapshot] as it is
      # @yieldreturn [State::Snapshot] as it will be after the run
      # @raise [Error] the state or the directory cannot be read
      def initialize(state, directory, passwords)
        @documents = state
        @directory = directory
        @passwords = passwords
        @state = state.read
        wanted = block_given? ? yield(@state) : @state
        @observed = directory.observe(wanted, nil)
        @plan = Plan.new(wanted, @observed, directory.names) { Excerpt::NO_RULES }
      end

      # @param section [String] `users`, `roles` or `bindings`
      # @param name [String]
      # @return [Boolean] whether it is declared, and has its entry; false as well for one that is to be deleted
      def present?(section, name)
        document = @state[section][name]
        return false if document.nil? || document['deleting']

        section == 'bindings' || !@observed[section][name].nil? || document['status'] == 'existing'
      end

      # @return [Boolean] whether there is something to delete
      def known?(section, name)
        @state[section].key?(name)
      end

      # @return [Object, nil] as in {Declarations}
      def declaration(section, name)
        document = @state[section][name]
        return if document.nil?

        { 'users' => document.slice('password'), 'roles' => document['grants'], 'bindings' => document }[section]
      end

      # @return [Boolean] whether the entry of a role was there before it was declared
      def existing?(role)
        @state.roles.fetch(role, {})['status'] == 'existing'
      end

      # @return [void]
      # @raise [Refused] there is a conflict that concerns it
      def check(section, name)
        refuse(@plan.conflicts_of(section, name))
      end

      # @return [Array<Plan::Step>] what somebody has changed by hand, or a change has left undone
      # @raise [Error]
      def drift(section, name)
        excerpt(section, name).steps
      end

      # @return [Array<String>] those of the object, and those of its section
      def warnings(section, name)
        place = "#{section}.#{name}"
        places = ["#{place}:", "#{place}.", "#{section}:"]
        found = excerpt(section, name).warnings.select { |text| text.start_with?(*places) }
        section == 'users' ? found + file_warnings(@state.users[name]) : found
      end

      # Stores a declaration, and brings the directory to it.
      #
      # @param object [Object] as in {Declarations}
      # @return [Array<Plan::Step>] done
      # @raise [Refused] nothing was changed
      # @raise [Error]
      def declare(section, name, object)
        one = One.new({}, {}, {})
        one[section][name] = object
        change(section, name) { |state| state.with(one) }
      end

      # Deletes a user, a role or a binding. A user or a role first leaves the bindings that are to change later in the
      # run, so the order of deletions does not matter.
      #
      # @return (see #declare)
      # @raise (see #declare)
      def remove(section, name)
        refuse(@plan.conflicts)
        unbind(section, name) unless section == 'bindings'
        change(section, name) { |state| state.without([[section, name]]) }
      end

      # Notes that the server has accepted the password of a user, so that later runs do not try it.
      #
      # @return [void]
      def settle(user)
        stamp = @observed.stamps.delete(user)
        return unless stamp

        @documents.change('users', user) { |document| document.merge('stamp' => stamp) }
        read_document('users', user)
      end

      private

      def file_warnings(user)
        user ? [Passwords.warning(user['password'])].compact : []
      end

      def refuse(conflicts)
        raise Refused, conflicts if conflicts.any?
      end

      def names
        @directory.names
      end

      # @yieldparam state [State::Snapshot]
      # @yieldreturn [State::Snapshot]
      def change(section, name)
        refuse(@plan.conflicts)
        from = @state
        to = yield(from)
        forget_password(name) if section == 'users'
        refuse(excerpt(section, name, to, from).conflicts)
        store(section, name, from, to)
        done = converge(section, name, from)
        settle(name) if section == 'users'
        done
      end

      def store(section, name, from, to)
        @documents.pin(@observed.unique_id) unless from.unique_id
        to.unique_id ||= @observed.unique_id
        @documents.save(only(from, section, name), only(to, section, name))
        @state = to
        read_document(section, name) unless section == 'bindings'
        @rules = nil
      end

      # @return [State::Snapshot] with one object
      def only(state, section, name)
        NOTHING.dup.tap { |one| one[section] = state[section].slice(name) }
      end

      def unbind(section, name)
        @state.bindings.select { |_, binding| binding[section].include?(name) }.each do |binding, document|
          to = @state.dup
          to.bindings = to.bindings.merge(binding => document.merge(section => document[section] - [name]))
          store('bindings', binding, @state, to)
        end
      end

      # @return [Array<Plan::Step>]
      def converge(section, name, from)
        done = []
        ROUNDS.times do
          excerpt = excerpt(section, name, @state, from)
          refuse(excerpt.conflicts)
          return done if excerpt.steps.empty?

          perform(excerpt.steps, done)
        end
        raise ConflictError, "others have changed the same user, role or rules #{ROUNDS} times meanwhile: try again"
      end

      def perform(steps, done)
        apply = Apply.new(@documents, @directory, @passwords)
        due(steps).each do |step|
          apply.perform(step)
          note(step)
          done << step
        end
      rescue ConflictError, ExistsError, NotFoundError
        # Somebody else was faster.
        @rules = nil
        sleep(rand * 0.1)
      ensure
        steps.map { |step| [step.section, step.name] }.uniq.each { |section, name| read(section, name) if section }
      end

      # @return [Array<Plan::Step>] those that need no further plan. A member that the last ones wait for may be another
      #   object's
      def due(steps)
        first = steps.take_while { |step| !step.data&.fetch(:later, false) }
        first.empty? ? steps : first
      end

      def note(step)
        case step.act
        when 'folder' then @observed.folders += [step.name]
        when 'rules'
          @rules = nil
          @state.printed = step.data[:rules] if step.data[:by_hand]
        end
      end

      # Reads a user or a role again.
      def read(section, name)
        read_document(section, name)
        entry = @directory.entry(section, name)
        entry ? @observed[section][name] = entry : @observed[section].delete(name)
        forget_password(name) if section == 'users'
      end

      def read_document(section, name)
        document = @documents.read_one(section, name)
        document ? @state[section][name] = document : @state[section].delete(name)
      end

      def forget_password(name)
        @observed.passwords.delete(name)
        @observed.stamps.delete(name)
      end

      # @param from [State::Snapshot] before a change of the object
      # @return [Excerpt]
      def excerpt(section, name, state = @state, from = state)
        observe_password(name, state) if section == 'users'
        Excerpt.new(state, from, @observed, names, bound(state.bindings), [section, name]) do |roles|
          state.equal?(@state) ? rules(roles, from) : Excerpt::NO_RULES
        end
      end

      # @return [Hash{String => Array<String>}] the names of the bindings of each role
      def bound(bindings)
        return @bound.last if @bound&.first.equal?(bindings)

        index = Hash.new { |all, role| all[role] = [] }
        bindings.each { |name, binding| binding['roles'].each { |role| index[role] << name } }
        @bound = [bindings, index]
        index
      end

      def observe_password(name, state)
        user = state.users[name]
        return if user.nil? || user['deleting'] || @observed.passwords.key?(name)

        @directory.observe_password(@observed, name, user, @passwords)
      end

      # Compares the rules with all grants once, and asks the server again only if rules of these roles differ.
      #
      # @param roles [Array<String>]
      # @param from [State::Snapshot] before a change of the roles
      # @return [Hash] see {Plan#initialize}
      def rules(roles, from)
        @rules ||= rule_changes
        differing = @rules.values_at(:add, :delete).flatten
        return @rules if differing.empty?

        concerned = concerned(roles, from)
        return @rules.merge(add: [], delete: []) if differing.none?(&concerned)

        rule_changes(&concerned)
      end

      # The grants stay one array as long as they are the same, so that the rules are made once.
      def rule_changes(&concerned)
        grants = Grants.new(@state, @observed, names).all
        @grants = grants if @grants != grants
        @directory.rule_changes(@grants, @observed.foreign, @state.printed, &concerned)
      end

      # @return [Proc] tells whether a rule is one of these roles, or of none that is or was declared
      def concerned(roles, from)
        all = [@state, from].flat_map do |state|
          grants = Grants.new(state, @observed, names)
          state.roles.reject { |name, _| grants.existing?(name) }.flat_map { |name, role| grants.of(name, role) }
        end.uniq
        mine = all.select { |grant| roles.include?(grant.role) }
        @directory.rule_chooser(mine, all)
      end
    end
  end
end
