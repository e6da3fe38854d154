# frozen_string_literal: true

module Simpkv
  module Access
    # Does the steps of a plan. Each can be repeated: the state says what a step makes before the step is done.
    class StepRunner
      # @param state [State]
      # @param directory [Directory]
      # @param passwords [Passwords]
      def initialize(state, directory, passwords)
        @state = state
        @directory = directory
        @passwords = passwords
      end

      # @param step [Step]
      # @return [void]
      # @raise [Error]
      # @raise [ConflictError] the directory or the state is not as it was when the step was planned
      def perform(step)
        public_send(step.act, step)
      end

      # Each of these does the step of its name.

      def create(step)
        document = document(step)
        unless @directory.create(step.section, step.name, document['uid'])
          raise ConflictError, "another client has made the entry '#{@directory.names.dn(step.section, step.name)}'"
        end

        mark(step, 'ours') if step.section == 'roles'
      end

      def adopt(step)
        mark(step, 'ours')
      end

      def keep(step)
        mark(step, 'existing')
      end

      def password(step)
        @directory.set_password(step.name, @passwords.read(document(step)['password']))
      end

      def folder(step)
        @directory.create_folder(step.name)
      end

      def rules(step)
        step.by_hand? ? @state.note_printed(step.data[:rules]) : @directory.rules.perform(step.data)
      end

      # The state names a member before the role gets it, and until the role has lost it.
      def members(step)
        change(step) { |added| added + Names.beyond(step.data[:add], added) }
        @directory.change_members(step.name, step.data)
        change(step) { |added| Names.beyond(added, step.data[:delete]) }
      end

      def delete(step)
        return if @directory.delete(step.section, step.name, document(step)['uid'])

        raise ConflictError, "another client has made the entry '#{@directory.names.dn(step.section, step.name)}'"
      end

      def forget(step)
        @state.forget(step.section, step.name)
      end

      # The state names the rules before they are deleted, and until they are back.
      def narrow(step)
        @state.change_removed(step.name) { |rules| rules | step.data[:delete] }
        @directory.feature.delete(step.name, step.data[:delete])
      end

      def widen(step)
        @directory.feature.restore(step.name, step.data[:add])
        @state.change_removed(step.name) { |rules| rules - step.data[:add] }
      end

      private

      def document(step)
        @state.read_one(step.section, step.name) ||
          raise(ConflictError, "#{step.section}.#{step.name}: another client has removed it")
      end

      def mark(step, status)
        @state.change(step.section, step.name) { |role| role.merge('status' => status) }
      end

      def change(step)
        @state.change(step.section, step.name) { |role| role.merge('added' => yield(role['added'].to_a).sort) }
      end
    end
  end
end
