# frozen_string_literal: true

require 'simpkv/cli/command'
require 'simpkv/cli/transfer/endpoint'
require 'simpkv/cli/transfer/journaled'
require 'simpkv/cli/transfer/transfer'

module Simpkv
  module Cli
    # The base class of import, copy and passgen import, which choose the source and the target. It has their options,
    # the journal and the report.
    class TransferCommand < Command
      include Journaled

      EXISTING = %w[refuse keep replace].freeze

      # The common part of their DESCRIPTION.
      PROCEDURE = <<~TEXT
        The command first reads the source and the target. It stores nothing if a key of the target has a different
        document (--existing keep or replace accepts that), if a name would be both a key and a folder, or if the
        target refuses names with capital letters (--capitals skip or lower accepts them). It does not store empty
        folders.

        Before each change, it writes the replaced document into a journal, which only its owner can read. The journal
        is in plain text, even if the target is encrypted. --resume continues after a kill. --rollback JOURNAL undoes
        all changes, except new folders, and keys that were changed since. --dry-run does not try the limit of a
        directory server on the size of messages; it lists documents of more than 64 KiB.

        At the end, the command reads source and target again and compares them byte for byte. Documents that
        functions cannot read are stored as they are and listed, and the exit code is 65. The command also lists each
        Sensitive that --existing replace has replaced by a plain value.
      TEXT

      private

      def define(parser)
        @existing = @capitals = 'refuse'
        @jobs = 4
        parser.on('-n', '--dry-run', 'print the changes, and store nothing') { @dry = true }
        parser.on('--existing HOW', EXISTING, 'refuse, keep or replace differing documents') { |how| @existing = how }
        parser.on('--capitals HOW', CasePolicy::POLICIES, 'refuse, skip or lower names with capitals') do |how|
          @capitals = how
        end
        define_journal(parser)
        parser.on('--rollback JOURNAL', 'undo the changes of a journal') do |file|
          @rollback = DataFile.path(file, '--rollback')
        end
        parser.on('--jobs N', Integer, 'the number of concurrent batches (4)') do |number|
          @jobs = number.clamp(1, 256)
        end
      end

      # Refuses a source without keys of the environment that the command line names.
      def refuse_empty(source)
        return unless named_environment

        raise Failure.new("#{source.title} has no keys of the environment '#{named_environment}'", Failure::NO_INPUT)
      end

      # @param source [Endpoint, ExportFile, LegacyPasswords]
      # @param target [ChosenBackend]
      # @return [Integer, nil] the exit code
      def transfer(source, target)
        began = Clock.now
        capitals = CasePolicy.new(target, @capitals)
        to = Endpoint.new(target, @jobs, @dry ? :either : :target)
        @check = ReadCheck.new(target)
        work = Transfer.new(source, to, roots, capitals, @jobs, @check)
        plan = work.plan(keep: @existing == 'keep')
        check_plan(plan, capitals, source, target)
        header = { 'target' => target.address, 'source' => source.title }
        facts, wrong = @dry ? foretold(work, plan) : stored(work, plan, header, began)
        output.facts(planned(plan, capitals).merge(facts))
        code = report(plan.corrupt.transform_values { |why| "#{why}: it is stored as it is" }.merge(wrong))
        @check.exit_code || code
      end

      # @return [Array(Hash, Hash{String => String})] as {#stored}, of a dry run
      def foretold(work, plan)
        warn_about_limits(work.refusals.untried(plan))
        [{ 'failed' => work.failures.length }, plan.unread.merge(work.failures)]
      end

      # @param paths [Array<String>]
      def warn_about_limits(paths)
        return if paths.empty?

        warn "simpkv: #{Output.count(paths.length, 'large document')}: a dry run does not try the server's limit on " \
             "the size of messages\n#{Output.some(paths.sort)}"
      end

      # Stores the keys, and reads both ends again.
      #
      # @return [Array(Hash, Hash{String => String})] the facts, and by path what is wrong
      def stored(work, plan, header, began)
        file = carried_out(work, plan, header)
        wrong = plan.unread.merge(work.failures, work.verify(plan))
        [{ 'stored' => work.stored, 'failed' => work.failures.length, 'verified' => wrong.empty?,
           'seconds' => (Clock.now - began).round(2), 'journal' => file }, wrong]
      end

      def check_plan(plan, capitals, source, target)
        refuse_empty(source) if [plan.targets, plan.unread, capitals.affected].all?(&:empty?)
        @check.warn_if_incomplete
        warn_about_capitals(plan, capitals)
        warn_about_losses(plan.lost)
        refuse_shared(plan.shared)
        refuse_differing(plan, target)
        warn_about_secrets(plan.exposed)
        target.check_agreement(plan.missing + plan.differing) unless @dry
      end

      # @return [String, nil] the file of the journal
      def carried_out(work, plan, header)
        return if plan.missing.empty? && plan.differing.empty?

        journal = open_journal(header)
        whole = false
        work.write(plan, journal)
        whole = true
        journal.file
      rescue Failure, Simpkv::Error, SystemCallError, SignalException
        raise unless journal

        warn "\nsimpkv: stored #{Output.count(work.stored, 'key')}. Run the same command with --resume to continue, " \
             "or with --rollback #{journal.file} to undo this"
        raise
      ensure
        journal&.close(whole)
      end

      # Undoes the changes of a journal.
      #
      # @param target [ChosenBackend] the target of the transfer
      def roll_back(target)
        changes = Hash.new { |all, path| all[path] = [] }
        header = Journal.read(@rollback) { |change| changes[change.path] << change }
        Journal.check(@rollback, header, 'target' => target.address)
        return output.facts('would roll back' => changes.length) if @dry

        work = Transfer.new(nil, Endpoint.new(target, @jobs, :source), [], nil, @jobs)
        work.roll_back(changes)
        output.facts('rolled back' => work.stored, 'left' => work.failures.length)
        report(work.failures)
      end

      def warn_about_capitals(plan, capitals)
        targets = plan.targets.invert
        capitals.affected.each do |path|
          becomes = targets[path]
          warn "simpkv: '#{path}' has capital letters: #{becomes ? "it becomes '#{becomes}'" : 'it is left out'}"
        end
      end

      # Their documents are stored as they are.
      #
      # @param reasons [Hash{String => String}] by path
      def warn_about_losses(reasons)
        return if reasons.empty?

        keys = reasons.sort.map { |path, why| "#{path}: #{why}" }
        warn "simpkv: #{Output.count(reasons.length, 'value')} lost, as simpkv 1.0.0 loses some: store them anew\n" \
             "#{Output.some(keys)}"
      end

      # @param exposed [Hash{String => true, nil}] by path, whether it is a Sensitive; nil if it cannot be read
      def warn_about_secrets(exposed)
        exposed.sort_by(&:first).each do |path, secret|
          warn "simpkv: '#{path}': " + if secret
                                         'a Sensitive is replaced by a plain value'
                                       else
                                         'a plain value replaces a document that cannot be read, so it may have been ' \
                                           'a Sensitive'
                                       end
        end
      end

      # @param shared [Hash{String => String}] see {SharedNames.find}
      def refuse_shared(shared)
        return if shared.empty?

        names = shared.sort.map { |path, why| Output.name("'#{path}' is a key, and #{why}") }
        raise Failure.new("a name cannot be that of a key and of a folder:\n#{Output.some(names)}\n" \
                          'Nothing was stored. Rename or leave out one of the two', Failure::DATA)
      end

      def refuse_differing(plan, target)
        return if plan.differing.empty? || @existing != 'refuse'

        raise Failure.new("#{target.title} has other documents for these keys:\n#{Output.some(plan.differing.sort)}\n" \
                          'Nothing was stored. --existing keep leaves them, --existing replace replaces them',
                          Failure::DATA)
      end

      def planned(plan, capitals)
        { 'keys' => plan.targets.length, 'unchanged' => plan.same.length, 'to store' => plan.missing.length,
          'to replace' => plan.differing.length, 'kept' => plan.kept.length,
          'left out for capitals' => capitals.affected.length - (capitals.affected & plan.targets.values).length,
          'cannot be read' => plan.unread.length, 'corrupt' => (plan.corrupt.length unless @check.incomplete?) }
      end
    end
  end
end
