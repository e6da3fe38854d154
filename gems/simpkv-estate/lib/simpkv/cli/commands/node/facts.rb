# frozen_string_literal: true

require 'simpkv/cli/estate/estate_command'

module Simpkv
  module Cli
    module Commands
      module Node
        # Prints the stored facts of a node.
        class Facts < EstateCommand
          SUMMARY = 'print the stored facts of a node'
          ARGUMENTS = 'NODE [FACT]'
          ANYWHERE = true
          DESCRIPTION = <<~TEXT
            Prints the facts of a node as its last run stored them, without those of the option facts_blocklist: a line
            for each, with its dotted name. With FACT, a dotted name such as os.release.major, prints its value alone.
            Trusted facts begin with trusted. Prints [redacted] for a value in the form of a Sensitive, unless
            --show-secrets is given. Exits with 66 if there are none of that name.
          TEXT
          EXAMPLES = {
            'simpkv node facts web1' => 'All',
            'simpkv node facts web1 networking.ip' => 'A fact',
            'simpkv node facts web1 os -o json' => 'A structured fact for a program'
          }.freeze

          def run(name, fact = nil)
            facts = stored(name)
            facts = Estate::Secrets.without_sensitive_values(facts) unless @show_secrets
            return print(facts) unless fact

            value = Estate::Facts.dig(facts, fact)
            not_there(fact, "there is no fact of '#{name}' called", leaves(facts).keys) if value.nil?
            print(value)
          end

          # @return [Array<String>] the names of a node's facts, for completion
          def fact_names(name)
            leaves(stored(name)).keys
          end

          private

          def define(parser)
            parser.on('--show-secrets', 'print values in the form of a Sensitive, too') { @show_secrets = true }
          end

          def stored(name)
            on_estate { |estate| estate.facts.with_trusted(name) } ||
              not_there(name, 'there are no facts of a node', names_in('facts'))
          end

          def print(value)
            output.print(value) { nested?(value) ? Output.table(leaves(value).to_a) : shown(value) }
          end

          # @return [Boolean] whether there are members to name
          def nested?(value)
            (value.is_a?(Hash) || value.is_a?(Array)) && !value.empty?
          end

          # @return [Hash{String => String}] scalars by their dotted names
          def leaves(value, *names)
            return { names.join('.') => shown(value) } unless nested?(value)

            members = value.is_a?(Hash) ? value.sort : value.each_with_index.map { |member, number| [number, member] }
            members.each_with_object({}) { |(name, member), all| all.update(leaves(member, *names, name)) }
          end
        end
      end
    end
  end
end
