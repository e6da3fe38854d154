# frozen_string_literal: true

require 'simpkv/cli/data_file'
require 'simpkv/cli/estate/rule_command'

module Simpkv
  module Cli
    module Commands
      module Rule
        # Stores the inspection rules of a file.
        class Import < RuleCommand
          SUMMARY = 'store the inspection rules of a file'
          ARGUMENTS = 'FILE'
          DESCRIPTION = <<~TEXT
            Stores the inspection rules of a file, a list in YAML or JSON. A rule with the UUID of a stored one replaces
            it, and others are created. A rule without UUID is the stored one with the same description, phase and
            scope. Checks all rules first: if one is invalid, stores none. Importing a file again changes nothing.
            Prints whether each rule was created, updated or unchanged. Rules that the file lacks stay in the store.
          TEXT
          EXAMPLES = {
            'simpkv rule import rules.yaml' => 'A file',
            'simpkv rule import - < rules.json' => 'Standard input'
          }.freeze

          def run(file)
            data = DataFile.read(file)
            imported = on_rules(file) { |rules| rules.import(data) }
            output.print(imported.map { |outcome, rule| { 'outcome' => outcome.to_s, 'rule' => rule } }) do
              imported.map { |outcome, rule| "#{outcome}: #{named(rule)}" }
            end
          end

          private

          def define(parser)
            define_site_actions(parser)
          end
        end
      end
    end
  end
end
