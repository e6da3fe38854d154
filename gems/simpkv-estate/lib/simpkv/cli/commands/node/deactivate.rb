# frozen_string_literal: true

require 'simpkv/cli/estate/estate_command'
require 'simpkv/cli/many_keys'

module Simpkv
  module Cli
    module Commands
      module Node
        # Removes what nodes left in the store.
        class Deactivate < EstateCommand
          include ManyKeys

          SUMMARY = 'remove all that nodes left in the store'
          SUGGEST_FOR = { 'clean' => 'node deactivate', 'purge' => 'node deactivate' }.freeze
          ARGUMENTS = 'NODE...'
          DESCRIPTION = <<~TEXT
            Removes the exported resources, facts, status, reports, catalogs and inspections of nodes, so that other
            nodes no longer collect what they exported. Asks nothing, and prints what was removed. Only the declared
            record of a node stays (simpkv node undeclare). A node that runs again stores everything anew: revoke its
            certificate first, with puppetserver ca clean. Exits with 65 if a node could not be removed, otherwise with
            66 if a node left nothing; the others are removed.
          TEXT
          EXAMPLES = { 'simpkv node deactivate web1 web2' => 'Two nodes' }.freeze

          def run(*names)
            at_least_one(names)
            @errors = {}
            removed = deactivate(names)
            failed = report(@errors)
            missing = removed.key({})
            return failed unless missing

            not_there(missing, 'there is nothing of a node', node_names, failed || Failure::NO_INPUT)
          end

          private

          # Prints what was removed, also if the store fails then.
          #
          # @return [Hash{String => Hash}] it, by the names of the nodes
          def deactivate(names)
            removed = {}
            on_estate do |estate|
              names.each { |name| noting_error(name) { removed[name] = estate.deactivate(name) } }
            end
            complete = true
            removed
          ensure
            something = removed.reject { |_, subjects| subjects.empty? }
            if complete || something.any?
              output.print(removed) { something.map { |name, subjects| Estate::Removal.line(name, subjects) } }
            end
          end
        end
      end
    end
  end
end
