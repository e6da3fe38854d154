# frozen_string_literal: true

require 'simpkv/cli/estate/estate_command'
require 'simpkv/cli/many_keys'

module Simpkv
  module Cli
    module Commands
      module Node
        # Removes what nodes exported, or all that they left in the store.
        class Deactivate < EstateCommand
          include ManyKeys

          SUMMARY = 'remove the exported resources of nodes that run no more'
          SUGGEST_FOR = { 'clean' => 'node deactivate', 'purge' => 'node deactivate' }.freeze
          ARGUMENTS = 'NODE...'
          DESCRIPTION = <<~TEXT
            Removes the exported resources of nodes, so that other nodes no longer collect them, and marks the nodes:
            lists and searches leave them out. Queries find them with node_state = "inactive". Their facts, status,
            reports and catalogs stay until simpkv node expire removes them, after the time of the option
            node_purge_ttl (14 days). With --purge, removes all that at once, and documents that cannot be read as well.
            Asks nothing, and prints what was removed. The declared record of a node stays (simpkv node undeclare). The
            next run of a node ends its deactivation: revoke its certificate first, with puppetserver ca clean. Exits
            with 65 if a node could not be deactivated, else with 66 if a node left nothing. The other nodes are
            deactivated.
          TEXT
          EXAMPLES = { 'simpkv node deactivate web1 web2' => 'Two nodes',
                       'simpkv node deactivate web1 --purge' => 'All that a node left, at once' }.freeze

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

          def define(parser)
            parser.on('--purge', 'remove all that they left, and keep nothing for node_purge_ttl') { @purge = true }
          end

          # Prints what was removed, also if the store fails then.
          #
          # @return [Hash{String => Hash}] it, by the names of the nodes
          def deactivate(names)
            removed = {}
            on_estate do |estate|
              names.each { |name| noting_error(name) { removed[name] = estate.public_send(action, name) } }
            end
            complete = true
            removed
          ensure
            something = removed.reject { |_, subjects| subjects.empty? }
            if complete || something.any?
              output.print(removed) { something.map { |name, subjects| words.line(name, subjects) } }
            end
          end

          def action
            @purge ? :remove : :deactivate
          end

          def words
            @purge ? Estate::Removal : Estate::Deactivation
          end
        end
      end
    end
  end
end
