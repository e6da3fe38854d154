# frozen_string_literal: true

require 'simpkv/cli/estate/rule_command'

module Simpkv
  module Cli
    module Commands
      module Rule
        # Lists inspection rules.
        class List < RuleCommand
          SUMMARY = 'list inspection rules in the order in which they run'
          SUGGEST_FOR = { 'rules' => 'rule list' }.freeze
          ANYWHERE = true
          DESCRIPTION = <<~TEXT
            Lists the inspection rules, those of the store and built-in ones, in the order in which they run: by phase,
            by priority, and then by creation. With --long, prints conditions and actions too, but not those of
            sensitive rules.
          TEXT
          EXAMPLES = {
            'simpkv rule list' => 'A line for each rule',
            'simpkv rule list --phase main --long' => 'The rules of a phase, with conditions and actions',
            'simpkv rule list --long -o json > rules.json' => 'For simpkv rule import, if none is sensitive or built in'
          }.freeze

          HEAD = %w[uuid phase priority scope kind description].freeze
          private_constant :HEAD

          def run
            errors = {}
            list = on_rules('list') do |rules|
              rules.list(detail: @long, scope: @scope, phase: @phase) { |key, why| errors[key] = why }
            end
            output.print(list) { @long ? blocks(list) : table(list) }
            report(errors)
          end

          private

          def define(parser)
            parser.on('-l', '--long', 'print conditions and actions, too') { @long = true }
            parser.on('--scope SCOPE', 'only rules of this scope') { |scope| @scope = scope }
            phases = Inspection::Rules::Definition::PHASES
            parser.on('--phase PHASE', phases, "only rules of this phase: #{phases.join(', ')}") do |name|
              @phase = name
            end
          end

          def blocks(list)
            list.flat_map { |rule| ['', *lines(rule)] }.drop(1)
          end

          def table(list)
            return [] if list.empty?

            Output.table([HEAD, *list.map { |rule| HEAD.map { |name| cell(rule, name) } }])
          end

          def cell(rule, name)
            value = name == 'kind' ? kind(rule) : rule[name]
            value.to_s.empty? ? '-' : value
          end

          def kind(rule)
            { 'built_in' => 'built in', 'sensitive' => 'sensitive' }.select { |name, _| rule[name] }.values.join(', ')
          end
        end
      end
    end
  end
end
