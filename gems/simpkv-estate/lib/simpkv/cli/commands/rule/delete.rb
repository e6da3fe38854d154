# frozen_string_literal: true

require 'simpkv/cli/estate/rule_command'

module Simpkv
  module Cli
    module Commands
      module Rule
        # Deletes inspection rules.
        class Delete < RuleCommand
          SUMMARY = 'delete inspection rules'
          SUGGEST_FOR = { 'remove' => 'rule delete', 'rm' => 'rule delete' }.freeze
          ARGUMENTS = '[ID...]'
          DESCRIPTION = <<~TEXT
            Deletes stored inspection rules, even those that cannot be read. With --all, deletes all of them. Asks
            nothing, and prints what was deleted. Built-in rules stay: they are in a file. Exits with 66 if there is no
            such rule.
          TEXT
          EXAMPLES = {
            'simpkv rule delete 6f0c9a52-3c4e-4a5f-9f0e-2f6a3c1d7b90' => 'A rule',
            'simpkv rule delete --all' => 'All rules of the store'
          }.freeze

          def run(*uuids)
            check(uuids)
            return report(on_rules('--all', &:delete_all), []) if @all

            missing = delete_each(uuids)
            no_rule(missing.first) if missing.any?
          end

          private

          def define(parser)
            parser.on('--all', 'delete all stored rules') { @all = true }
          end

          def check(uuids)
            return unless @all ? uuids.any? : uuids.empty?

            raise Failure.new('name rules, or --all, and not both (simpkv rule delete --help)', Failure::USAGE)
          end

          # Names those that it has deleted, even if another one cannot be deleted.
          #
          # @return [Array<String>] those that there are not
          def delete_each(uuids)
            outcomes = {}
            uuids.each { |uuid| outcomes[uuid] = delete(uuid) }
            outcomes.reject { |_, existed| existed }.keys
          ensure
            report(*outcomes.keys.partition { |uuid| outcomes[uuid] })
          end

          def report(deleted, missing)
            output.print('deleted' => deleted, 'missing' => missing) { deleted.map { |uuid| "deleted: #{uuid}" } }
            nil
          end

          def delete(uuid)
            on_rules('the rule cannot be deleted') { |rules| rules.delete(uuid) }
          end
        end
      end
    end
  end
end
