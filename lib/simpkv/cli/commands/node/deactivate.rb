# frozen_string_literal: true

require 'simpkv/cli/estate/estate_command'

module Simpkv
  module Cli
    module Commands
      module Node
        # Removes what nodes left in the store.
        class Deactivate < EstateCommand
          SUMMARY = 'remove all that nodes left in the store'
          SUGGEST_FOR = { 'clean' => 'node deactivate', 'purge' => 'node deactivate' }.freeze
          ARGUMENTS = 'NODE...'
          DESCRIPTION = <<~TEXT
            Removes the exported resources, facts, status, reports, catalogs and inspections of nodes, so that other
            nodes no longer collect what they exported. Asks nothing, and prints what was removed. Only the declared
            record of a node stays (simpkv node undeclare). A node that runs again stores everything anew: revoke its
            certificate first, with puppetserver ca clean. Exits with 66 if a node left nothing.
          TEXT
          EXAMPLES = { 'simpkv node deactivate web1 web2' => 'Two nodes' }.freeze

          def run(*names)
            at_least_one(names)
            removed = names.to_h { |name| [name, on_estate { |estate| estate.deactivate(name) }] }
            missing, something = removed.partition { |_, subjects| subjects.empty? }.map(&:to_h)
            output.print(removed) { something.map { |name, subjects| Estate::Removal.line(name, subjects) } }
            not_there(missing.keys.first, 'there is nothing of a node', node_names) if missing.any?
          end
        end
      end
    end
  end
end
