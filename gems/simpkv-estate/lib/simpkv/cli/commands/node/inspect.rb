# frozen_string_literal: true

require 'simpkv/cli/estate/estate_command'
require 'simpkv/cli/estate/given_facts'
require 'simpkv/cli/estate/inspection_outcome'

module Simpkv
  module Cli
    module Commands
      module Node
        # Inspects a node with the rules of the store.
        class Inspect < EstateCommand
          include InspectionOutcome

          SUMMARY = 'print what inspection rules make of a node'
          SUGGEST_FOR = { 'inspect' => 'node inspect', 'classify' => 'node inspect' }.freeze
          ARGUMENTS = 'NODE'
          NODES_IN = %w[facts].freeze
          ANYWHERE = true
          DESCRIPTION = <<~TEXT
            Applies the inspection rules to a node as the compiler does, and prints the rules that matched and the
            effective record: environment, classes, parameters and more. Uses the facts that the last run of the
            node has stored, or those of a file. Changes nothing, and does not run actions of the site. With
            --explain, prints for each rule whether it matched, which condition was false and its values, and what
            each action changed. With --save, stores the outcome, and the record of a discovered node, as the
            compiler does.

            Prints [redacted] for the secrets of facts and records: members with a name such as db_password. If the
            option mask_secrets is never, rules may have copied secrets to other members, so it prints [redacted]
            for all values of the effective record and of the explanation. --show-secrets prints these values. Of a
            sensitive rule, it prints only whether it matched, and never the values that the rule has set. Exits
            with 1 if a rule refuses the node, with 65 if a rule cannot be applied, and with 66 if there are no
            facts.
          TEXT
          EXAMPLES = {
            'simpkv node inspect web1' => 'With the facts of its last run',
            'simpkv node inspect web1 --explain' => 'All rules, and why they matched or not',
            'facter --json | simpkv node inspect new1 --facts -' => 'A machine that is not known yet',
            'simpkv node inspect web1 -o json' => 'For a program'
          }.freeze

          def run(name)
            facts = @file ? GivenFacts.read(@file) : stored_facts(name)
            outcome = on_estate { |estate| inspected(estate, name, facts) }
            present(outcome, secrets(estate))
          end

          private

          def define(parser)
            parser.on('--facts FILE', 'facts in YAML or JSON; - is standard input') { |file| @file = file }
            parser.on('--explain', 'print all rules, and what they did') { @explain = true }
            parser.on('--save', 'store the outcome, as the compiler does') { @save = true }
            define_show_secrets(parser)
            define_site_actions(parser)
          end

          def anywhere?
            super && !@save
          end

          def stored_facts(name)
            on_estate { |estate| estate.facts.with_trusted(name) } ||
              not_there(name, 'there are no facts of a node', node_names)
          end

          def inspected(estate, name, facts)
            inspection = Inspection::Inspector.new(estate, engine(estate), explain: @explain ? true : false)
            inspection.perform(name, facts, save: @save ? true : false)
          end

          def engine(estate)
            Inspection::Rules.of(estate).engine(site_actions)
          rescue InvalidError => e
            raise InvalidError, Inspection::ActionFiles.usual.explained(e.message), cause: nil
          end
        end
      end
    end
  end
end
