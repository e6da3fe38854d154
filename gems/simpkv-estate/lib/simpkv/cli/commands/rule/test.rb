# frozen_string_literal: true

require 'simpkv/cli/data_file'
require 'simpkv/cli/estate/given_facts'
require 'simpkv/cli/estate/inspection_outcome'
require 'simpkv/cli/estate/rule_command'

module Simpkv
  module Cli
    module Commands
      module Rule
        # Applies the inspection rules of a file to facts.
        class Test < RuleCommand
          include InspectionOutcome

          SUMMARY = 'print what the inspection rules of a file make of a node'
          SUGGEST_FOR = { 'try' => 'rule test' }.freeze
          ARGUMENTS = 'FILE'
          DESCRIPTION = <<~TEXT
            Applies the inspection rules of a file to the facts of another file, and prints for each rule whether it
            matched, which condition did not hold and its values, what each action changed, and the effective record.
            Needs no store, and takes no rule but those of the file. The node is one that is discovered, unless
            --record gives its declared record. The options default_scope, inspection_scope, mask_secrets and
            secret_names count if there is a file with options. Carries out no action of the site. Hides secrets as simpkv node inspect does,
            unless --show-secrets is given.

            Exits with 1 if a rule refuses the node, and with 65 if a rule is invalid or cannot be applied.
          TEXT
          EXAMPLES = {
            'facter --json | simpkv rule test rules.yaml --facts -' => 'With the facts of this machine',
            'simpkv node facts web1 -o json | simpkv rule test rules.yaml --facts - --name web1' => 'With stored facts',
            'simpkv rule test rules.yaml --facts facts.yaml --record web1.yaml' => 'With a declared record'
          }.freeze

          # The options of inspection_rules that count.
          OPTIONS = %w[default_scope inspection_scope mask_secrets].freeze
          private_constant :OPTIONS

          def run(file)
            raise Failure.new('which facts? --facts FILE (simpkv rule test --help)', Failure::USAGE) unless @facts

            engine = about(file) { Inspection::Rules::SourceFile.engine(DataFile.read(file), site_actions, built_in: built_in?) }
            facts = GivenFacts.read(@facts)
            name = @name || Inspection::GivenFacts.certname(facts)
            present(about(name) { inspected(name, facts, engine) }, @secrets)
          end

          private

          def define(parser)
            parser.on('--facts FILE', 'facts in YAML or JSON; - is standard input') { |file| @facts = file }
            parser.on('--record FILE', 'the declared record in YAML or JSON') { |file| @record = file }
            parser.on('--name NAME', 'the name of the node (that of the facts)') { |name| @name = name }
            define_show_secrets(parser)
            define_file(parser)
          end

          # @return [Inspection::Inspector::Outcome]
          def inspected(name, facts, engine)
            estate = estate_without_store
            @secrets = secrets(estate)
            record = @record && (DataFile.read(@record) || {})
            Inspection::Inspector.new(estate, engine, explain: true).try(name, facts, record)
          end

          # @return [Estate] with the options of the site for rules; nothing opens its store
          def estate_without_store
            site = configured.options
            options = (site['inspection_rules'] || {}).slice(*OPTIONS)
            backend = { 'type' => 'file', 'id' => 'test', 'root_path' => '/nonexistent', 'case_sensitive' => true }
            Estate.new({ 'backends' => { 'default' => backend },
                         'estate' => { 'unknown_nodes' => 'discover', 'inspection_rules' => options,
                                       'secret_names' => site['secret_names'] || [] } })
          end
        end
      end
    end
  end
end
