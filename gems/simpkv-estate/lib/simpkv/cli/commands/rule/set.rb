# frozen_string_literal: true

require 'simpkv/cli/estate/rule_command'

module Simpkv
  module Cli
    module Commands
      module Rule
        # Changes fields of an inspection rule.
        class Set < RuleCommand
          SUMMARY = 'change fields of an inspection rule'
          SUGGEST_FOR = { 'edit' => 'rule set' }.freeze
          ARGUMENTS = 'ID'
          DESCRIPTION = <<~TEXT
            Replaces the given fields of a stored inspection rule, and keeps the others. Two operators who change
            different fields at once keep both changes. With --updated-at, the time of the last change that simpkv rule
            show prints, or that of the creation of an unchanged rule, a rule that another operator has changed since
            then is left alone, and the command exits with 75. Built-in rules cannot be changed, and a sensitive rule
            stays sensitive. --uuid must be the UUID of the rule. Exits with 66 if there is no such rule.
          TEXT
          EXAMPLES = {
            'simpkv rule set 6f0c9a52-3c4e-4a5f-9f0e-2f6a3c1d7b90 --priority 100 --scope rack12' => 'Two fields'
          }.freeze

          def run(uuid)
            raise Failure.new('nothing to change (simpkv rule set --help)', Failure::USAGE) if @fields.empty?

            change(uuid, @fields)
          end

          private

          def define(parser)
            define_fields(parser)
            parser.on('--uuid UUID', 'the UUID, which cannot be changed') { |uuid| @fields['uuid'] = uuid }
            define_condition(parser)
          end

          def define_condition(parser)
            parser.on('--updated-at TIME', 'only if this was its last change') { |time| @updated_at = time }
            define_site_actions(parser)
          end

          def change(uuid, fields)
            former = rule(uuid)
            changed = on_rules("the rule #{named(former)} cannot be changed") do |rules|
              rules.update(uuid, fields, updated_at: @updated_at)
            end
            same = former['updated_at'] == changed['updated_at']
            output.print(changed) { ["#{same ? 'unchanged' : 'changed'}: #{named(changed)}"] }
          end
        end
      end
    end
  end
end
