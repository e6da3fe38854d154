# frozen_string_literal: true

require 'simpkv/access/apply'
require 'simpkv/access/declarations'
require 'simpkv/access/directory'
require 'simpkv/access/plan'
require 'simpkv/access/state'

module Simpkv
  module Access
    # Something in the directory is not what the state says, or another declaration needs what is to be deleted. Nothing
    # was changed.
    class Refused < Simpkv::Error
      # @return [Array<String>]
      attr_reader :conflicts

      def initialize(conflicts)
        super(conflicts.join("\n"))
        @conflicts = conflicts
      end
    end

    # Brings a directory to what is declared. What is declared is in the store first, and the steps follow from there:
    # so an apply that was killed is completed by the next one, and two at once end in one state.
    class Reconciler
      # An apply plans again when another one, or an administrator, was faster with a change.
      ROUNDS = 10
      private_constant :ROUNDS

      # @param state [State]
      # @param directory [Directory]
      # @param passwords [Passwords]
      def initialize(state, directory, passwords)
        @state = state
        @directory = directory
        @passwords = passwords
      end

      # Plans, and changes nothing.
      #
      # @yieldparam snapshot [State::Snapshot] the state as it is
      # @yieldreturn [State::Snapshot] as it is to be
      # @return [Plan]
      # @raise [Error]
      def plan
        snapshot = @state.read
        planned(block_given? ? yield(snapshot) : snapshot)
      end

      # Stores what is declared, and brings the directory to it.
      #
      # @param declare [Proc] as the block of {#plan}
      # @yieldparam step [Plan::Step] that was done
      # @return [Plan] the last one, without steps
      # @raise [Refused] nothing was changed
      # @raise [ConflictError] others changed the same each time
      # @raise [Error] a step failed; the steps before it are done
      def apply(declare = nil, &done)
        done ||= ->(_step) {}
        snapshot = @state.read
        wanted = declare ? declare.call(snapshot) : snapshot
        refuse(planned(wanted))
        @state.pin(@directory.unique_id) unless snapshot.unique_id
        @state.save(snapshot, wanted)
        ROUNDS.times do
          plan = refuse(planned(@state.read))
          return finish(plan) if plan.steps.empty?

          perform(plan, &done)
        end
        raise ConflictError, "others have changed the same users, roles or rules #{ROUNDS} times meanwhile: try again"
      end

      # @return [State::Snapshot]
      def snapshot
        @state.read
      end

      # Tries the rights of users.
      #
      # @param plan [Plan]
      # @return [Array<String>] what differs from what is declared
      # @raise [Error]
      def verify(plan)
        @directory.verification.failures(plan, @passwords)
      end

      # @return [Hash] plain data, from which {Declarations} reads what is declared
      def declared
        state = @state.read
        users, roles = [state.users, state.roles].map { |all| all.reject { |_, document| document['deleting'] } }
        Declarations.data(users.transform_values { |user| user.slice('password') },
                          roles.transform_values { |role| role['grants'] },
                          state.bindings.select { |_, binding| binds?(binding) })
      end

      private

      # @return [Boolean] false for a binding whose users or roles {Session} has deleted, until that deletes it as well
      def binds?(binding)
        binding['roles'].any? && binding.values_at('users', 'groups').any?(&:any?)
      end

      # @param snapshot [State::Snapshot]
      def planned(snapshot)
        observed = @directory.observe(snapshot, @passwords)
        Plan.new(snapshot, observed, @directory.names) do |grants, foreign|
          @directory.rule_changes(grants, foreign, snapshot.printed)
        end
      end

      def refuse(plan)
        plan.conflicts.empty? ? plan : raise(Refused, plan.conflicts)
      end

      # Notes the passwords that were tried, so that the next plan does not bind as each user.
      def finish(plan)
        plan.observed.stamps.each do |name, stamp|
          @state.change('users', name) { |user| user.merge('stamp' => stamp) }
        end
        plan
      end

      def perform(plan)
        apply = Apply.new(@state, @directory, @passwords)
        plan.steps.take_while { |step| !marked?(step, :later) }.each do |step|
          # An administrator gets the rules before the state says so.
          yield step if marked?(step, :by_hand)
          apply.perform(step)
          yield step unless marked?(step, :by_hand)
        end
      rescue ConflictError, ExistsError, NotFoundError
        # Another apply or an administrator was faster.
        sleep(rand * 0.1)
      end

      def marked?(step, mark)
        step.data ? step.data.fetch(mark, false) : false
      end
    end
  end
end
