# frozen_string_literal: true

require 'simpkv/cli/estate/rule_command'

module Simpkv
  module Cli
    module Commands
      module Rule
        # Prints an inspection rule.
        class Show < RuleCommand
          SUMMARY = 'print an inspection rule'
          ARGUMENTS = 'ID'
          ANYWHERE = true
          DESCRIPTION = <<~TEXT
            Prints the fields of an inspection rule, its conditions and its actions. Prints no condition and no action
            of a sensitive rule, in no format. ID is a UUID. Exits with 66 if there is no such rule.
          TEXT
          EXAMPLES = {
            'simpkv rule show 6f0c9a52-3c4e-4a5f-9f0e-2f6a3c1d7b90' => 'A rule',
            'simpkv rule show 6f0c9a52-3c4e-4a5f-9f0e-2f6a3c1d7b90 -o yaml' => 'In YAML, as in a file of rules'
          }.freeze

          def run(uuid)
            shown = rule(uuid)
            output.print(shown) { lines(shown) }
          end
        end
      end
    end
  end
end
