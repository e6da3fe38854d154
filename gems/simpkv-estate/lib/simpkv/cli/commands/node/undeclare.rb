# frozen_string_literal: true

require 'simpkv/cli/estate/estate_command'

module Simpkv
  module Cli
    module Commands
      module Node
        # Removes the declared records of nodes.
        class Undeclare < EstateCommand
          SUMMARY = 'remove the declared records of nodes'
          ARGUMENTS = 'NODE...'
          NODES_IN = %w[nodes].freeze
          DESCRIPTION = <<~TEXT
            Removes the declared records of nodes. Facts, exported resources and reports stay. With the option
            unknown_nodes: refuse, Puppet then compiles no catalog for such a node. Exits with 66 if a node is not
            declared.
          TEXT
          EXAMPLES = { 'simpkv node undeclare web1' => 'A node' }.freeze

          def run(*names)
            at_least_one(names)
            missing = names.reject { |name| on_estate { |estate| estate.nodes.delete(name) } }
            output.print('undeclared' => names - missing, 'missing' => missing) do
              (names - missing).map { |name| "#{name}: declared record removed" }
            end
            not_there(missing.first, 'there is no declared record of', node_names) if missing.any?
          end
        end
      end
    end
  end
end
