# frozen_string_literal: true

require 'simpkv/access/part'

module Simpkv
  module Access
    # What the store declares and the directory has, as they were read together. After a change of some objects, it
    # reads only these again.
    class Reading
      # @return [State::Snapshot] the state as the caller wants it
      attr_reader :wanted

      # @param documents [State]
      # @param directory [Directory]
      # @param passwords [Passwords]
      # @yieldparam snapshot [State::Snapshot] the state as it is
      # @yieldreturn [State::Snapshot] the state as the caller wants it; without a block, it stays
      # @raise [Error]
      def initialize(documents, directory, passwords)
        @documents = documents
        @directory = directory
        @passwords = passwords
        @state = documents.read
        @wanted = block_given? ? yield(@state) : @state
        @observed = directory.observe(@wanted)
        @stale = []
      end

      # @return [State::Snapshot] the state as it is
      def state
        refresh
        @state
      end

      # @param passwords [Boolean] whether to bind as each user, to know whether the password is the declared one
      # @return [Plan] of all objects, as they are wanted
      def plan(passwords: true)
        try_passwords(@wanted.users) if passwords
        @observed.servers = @directory.feature&.servers.to_a
        Plan.new(@wanted, @observed, names) do |grants, foreign|
          @directory.rules.changes(grants, foreign, @wanted.printed)
        end
      end

      # @return [Plan] the same without passwords and rules: only its conflicts count
      def outline
        Plan.new(@wanted, @observed, names) { Part::NO_RULES }
      end

      # @param object [Array(String, String)] section and name
      # @param state [State::Snapshot] as it is, or as it would be after a change of the object: then without its rules
      # @param from [State::Snapshot] before a change of the object
      # @return [Part] of a plan
      def part(object, state = self.state, from = state)
        section, name = object
        if section == 'users'
          forget_password(name) unless state.equal?(@state)
          try_passwords(state.users.slice(name))
        end
        Part.new(state, from, @observed, names, bindings_by_role(state.bindings), object) do |roles|
          state.equal?(@state) ? rule_changes(roles, from) : Part::NO_RULES
        end
      end

      # @return [Boolean] whether the object is declared, and has its entry; false as well for one that is to be deleted
      def present?(section, name)
        document = state[section][name]
        return false if document.nil? || document['deleting']

        section == 'bindings' || !@observed[section][name].nil? || document['status'] == 'existing'
      end

      # Stores a changed state.
      #
      # @param changed [State::Snapshot]
      # @param object [Array(String, String), nil] the one that differs; nil if this reading is not used any more
      # @return [void]
      def save(changed, object = nil)
        @documents.pin(@observed.unique_id) unless @state.unique_id
        changed.unique_id ||= @observed.unique_id
        @documents.save(@state, changed)
        @state = changed
        @rules = nil
        read_document(*object) if object && object.first != 'bindings'
      end

      # Notes that steps change what this reading has. The next call reads that again.
      #
      # @param steps [Array<Step>]
      # @return [void]
      def expire(steps)
        @stale += steps
      end

      private

      def names
        @directory.names
      end

      def refresh
        return if @stale.empty?

        @rules = nil
        @stale.uniq { |step| [step.section || step.act, step.name] }.each { |step| read_again(step) }
        @stale = []
      end

      def read_again(step)
        case step.act
        when 'folder' then @observed.folders |= [step.name] if @directory.folder?(step.name)
        when 'rules' then @state.printed = @documents.printed
        else read_object(step.section, step.name)
        end
      end

      # Reads a user or a role.
      def read_object(section, name)
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

      def try_passwords(users)
        users.each do |name, user|
          next if user['deleting'] || @observed.passwords.key?(name)

          @directory.observe_password(@observed, name, user, @passwords)
        end
      end

      # @return [Hash{String => Array<String>}] the names of the bindings of each role
      def bindings_by_role(bindings)
        return @by_role.last if @by_role&.first.equal?(bindings)

        index = Hash.new { |all, role| all[role] = [] }
        bindings.each { |name, binding| binding['roles'].each { |role| index[role] << name } }
        @by_role = [bindings, index]
        index
      end

      # Compares the rules with all grants once, and asks the server again only if rules of these roles differ.
      #
      # @param roles [Array<String>]
      # @param from [State::Snapshot] before a change of the roles
      # @return [Hash] see {Plan#initialize}
      def rule_changes(roles, from)
        @rules ||= compare_rules
        differing = @rules.values_at(:add, :delete).flatten
        return @rules if differing.empty?

        concerned = concerned(roles, from)
        return @rules.merge(Part::NO_RULES) if differing.none?(&concerned)

        compare_rules(&concerned)
      end

      # The grants stay one array as long as they are the same, so that the rules are made once.
      def compare_rules(&concerned)
        grants = Grants.new(@state, @observed, names).all
        @grants = grants if @grants != grants
        @directory.rules.changes(@grants, @observed.foreign, @state.printed, &concerned)
      end

      # @return [Proc] tells whether a rule belongs to one of these roles, or to none that is or was declared
      def concerned(roles, from)
        all = [@state, from].flat_map do |state|
          grants = Grants.new(state, @observed, names)
          state.roles.reject { |name, _| grants.existing?(name) }.flat_map { |name, role| grants.of(name, role) }
        end.uniq
        mine = all.select { |grant| roles.include?(grant.role) }
        @directory.rules.chooser(mine, all)
      end
    end
  end
end
