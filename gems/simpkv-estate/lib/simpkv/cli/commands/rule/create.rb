# frozen_string_literal: true

require 'simpkv/cli/estate/rule_command'

module Simpkv
  module Cli
    module Commands
      module Rule
        # Creates an inspection rule.
        class Create < RuleCommand
          SUMMARY = 'create an inspection rule'
          SUGGEST_FOR = { 'add' => 'rule create' }.freeze
          DESCRIPTION = <<~TEXT
            Stores a new inspection rule, and prints its UUID. Checks all of it first: an unknown operation, wrong
            arguments, a wrong regular expression and the like are errors that name the place, such as
            actions[1].args.path. For a sensitive rule they give the place only: validate a copy that is not sensitive
            to see the reason. Other users of this machine can see a command line while it runs, so a sensitive rule
            should come from a file (simpkv rule import). No command shows conditions and actions of a sensitive rule
            again, but the store holds them in plain text: whoever can read the keys of the estate, with simpkv get or
            simpkv export, can read them.
          TEXT
          CONDITIONS = '[{"op":"contains","args":["{inventory[hostname]}","^web"]}]'
          ACTIONS = '[{"op":"set-attribute","args":["/parameters/role","web"]}]'
          REFUSAL = '[{"op":"fail","args":["we are closed"]}]'
          private_constant :CONDITIONS, :ACTIONS, :REFUSAL

          EXAMPLES = {
            "simpkv rule create --conditions '#{CONDITIONS}' --actions '#{ACTIONS}'" =>
              'A parameter of the nodes whose names begin with web',
            "simpkv rule create --phase early --actions '#{REFUSAL}'" => 'Refuse all nodes'
          }.freeze

          def run
            created = on_rules('the rule cannot be stored') { |rules| rules.create(@fields) }
            output.print(created) { ["created: #{named(created)}"] }
          end

          private

          def define(parser)
            define_fields(parser)
            parser.on('--uuid UUID', 'the UUID, instead of a random one') { |uuid| @fields['uuid'] = uuid }
            define_site_actions(parser)
          end
        end
      end
    end
  end
end
