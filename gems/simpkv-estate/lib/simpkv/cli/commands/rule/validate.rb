# frozen_string_literal: true

require 'simpkv/cli/data_file'
require 'simpkv/cli/estate/rule_command'

module Simpkv
  module Cli
    module Commands
      module Rule
        # Checks the inspection rules of a file.
        class Validate < RuleCommand
          SUMMARY = 'check the inspection rules of a file'
          SUGGEST_FOR = { 'check' => 'rule validate', 'lint' => 'rule validate' }.freeze
          ARGUMENTS = 'FILE'
          DESCRIPTION = <<~TEXT
            Checks the inspection rules of a file as simpkv rule import does, and needs no store. Names the place of
            the first error of each rule, such as rules[2]: actions[1].args.path. With --built-in, checks a file for
            the option built_in, whose rules may have any priority. Exits with 65 if a rule is invalid.
          TEXT
          EXAMPLES = {
            'simpkv rule validate rules.yaml' => 'In a check before a commit',
            'simpkv rule validate --built-in /etc/simpkv/rules.yaml' => 'The built-in rules'
          }.freeze

          def run(file)
            data = DataFile.read(file)
            problems = Inspection::Rules::SourceFile.problems(data, site_actions, built_in: built_in?)
                                                    .map { |problem| Inspection::ActionFiles.usual.explained(problem) }
            count = data.is_a?(Array) ? data.length : 0
            output.print('rules' => count, 'problems' => problems) do
              problems.empty? ? ["#{file}: #{Output.count(count, 'valid rule')}"] : []
            end
            problems.each { |problem| warn "simpkv: #{Output.text("#{file}: #{problem}")}" }
            Failure::DATA if problems.any?
          end

          private

          def define(parser)
            define_file(parser)
          end
        end
      end
    end
  end
end
