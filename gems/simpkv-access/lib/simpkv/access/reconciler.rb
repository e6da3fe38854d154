# frozen_string_literal: true

require 'simpkv/access/declarations'
require 'simpkv/access/directory'
require 'simpkv/access/passwords'
require 'simpkv/access/plan'
require 'simpkv/access/reading'
require 'simpkv/access/state'
require 'simpkv/access/step_runner'
require 'simpkv/access/unfinished'

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

    # Brings a directory to what is declared: all of it for the command, and one object after the other for a run of
    # Puppet, which may skip each of them, or only show it (docs/adr/0045). A declaration is in the store first, and the
    # steps follow from there: so an apply that was killed is completed by the next one, and two at once end in one
    # state.
    #
    # An object is an array of its section (`users`, `roles` or `bindings`) and its name.
    class Reconciler
      # @return [Unfinished, nil] of the last {#apply}
      attr_reader :unfinished

      # @param documents [State]
      # @param directory [Directory]
      # @param passwords [Passwords]
      # @yieldparam snapshot [State::Snapshot] the state as it is
      # @yieldreturn [State::Snapshot] the state after a run that changes single objects: a conflict of any of them
      #   stops every change
      def initialize(documents, directory, passwords, &after_run)
        @documents = documents
        @directory = directory
        @passwords = passwords
        @after_run = after_run
      end

      # Plans, and changes nothing. A plan of all objects reads them; plans of single objects share one reading.
      #
      # @param only [Array(String, String), nil] an object; nil for all
      # @param passwords [Boolean] see {Reading#plan}: a directory may lock accounts after binds that it has refused
      # @yieldparam snapshot [State::Snapshot] the state as it is
      # @yieldreturn [State::Snapshot] the state to plan for; without a block, as it is
      # @return [Plan, Part]
      # @raise [Error]
      def plan(only: nil, passwords: true, &declare)
        only ? reading.part(only) : read(&declare).plan(passwords: passwords)
      end

      # Stores what is declared, and brings the directory to it.
      #
      # @param declare [Proc, nil] as the block of {#plan}
      # @param only [Array(String, String), nil] the object that it changes; nil for all
      # @yieldparam step [Step] that was done
      # @return [Plan, Part] the last one, without steps but those that are {#unfinished}
      # @raise [Refused] nothing was changed
      # @raise [ConflictError] others changed the same each time
      # @raise [Error] a step failed; the steps before it are done
      def apply(declare = nil, only: nil, &done)
        done ||= ->(_step) {}
        return change(only, declare, done) if only

        reading = read(&declare)
        refuse(reading.plan)
        reading.save(reading.wanted)
        converge(done) { read.plan }
      end

      # @return [void]
      # @raise [Refused] there is a conflict of the run that concerns an object
      def check(object)
        conflicts = outline.conflicts_of(*object)
        raise Refused, conflicts if conflicts.any?
      end

      # @return [Reading] that of single objects
      # @raise [Error] the state or the directory cannot be read
      def reading
        @reading || outline
        @reading
      end

      # @return [State::Snapshot]
      def snapshot
        @documents.read
      end

      # Tries the rights of users.
      #
      # @param plan [Plan]
      # @return [Array<String>] what differs from what is declared
      # @raise [Error]
      def verify(plan)
        @directory.verification.failures(plan, @passwords)
      end

      private

      def read(&declare)
        Reading.new(@documents, @directory, @passwords, &declare)
      end

      # @return [Plan] of the run, before its first change
      def outline
        @outline ||= begin
          @reading = read(&@after_run)
          @reading.outline
        end
      end

      def change(object, declare, done)
        refuse(outline)
        from = reading.state
        to = declare.call(from)
        refuse(reading.part(object, to, from))
        reading.save(to, object)
        converge(done) do
          reading.part(object, reading.state, from).tap { |part| reading.expire(part.steps) }
        end
      end

      # Plans and does the steps until there are none: an administrator or another apply may be faster with a change.
      #
      # @yieldreturn [Plan, Part]
      def converge(done)
        @unfinished = Unfinished.new(@documents, @directory)
        CompareAndSwap.repeat('others keep changing the same users, roles or rules: try again') do
          plan = refuse(yield)
          steps = plan.steps.reject { |step| @unfinished.include?(step) }
          return note_stamps(plan) if steps.empty?

          perform(due(steps), done)
          CompareAndSwap.overtaken
        end
      end

      def refuse(plan)
        plan.conflicts.empty? ? plan : raise(Refused, plan.conflicts)
      end

      # @return [Array<Step>] those that need no further plan, or all if there are none: they may wait for a member of
      #   another object
      def due(steps)
        first = steps.take_while { |step| !step.later? }
        first.empty? ? steps : first
      end

      def perform(steps, done)
        runner = StepRunner.new(@documents, @directory, @passwords)
        steps.each do |step|
          # An administrator gets the rules before the state says so.
          done.call(step) if step.by_hand?
          done.call(step) if done?(runner, step) && !step.by_hand?
        end
      rescue ConflictError, ExistsError, NotFoundError
        CompareAndSwap.overtaken
      end

      # @return [Boolean] false for a failure that does not stop the other steps
      def done?(runner, step)
        runner.perform(step)
        true
      rescue Error => e
        @unfinished.note(step, e)
        false
      end

      # Notes the passwords that were tried, so that the next plan does not bind as each user.
      def note_stamps(plan)
        plan.stamps.each { |name, stamp| @documents.change('users', name) { |user| user.merge('stamp' => stamp) } }
        plan
      end
    end
  end
end
