# frozen_string_literal: true

require 'simpkv/cli/estate/estate_command'
require 'simpkv/cli/progress'

module Simpkv
  module Cli
    module Commands
      module Node
        # Removes what nodes left that have had no run for a long time.
        class Expire < EstateCommand
          SUMMARY = 'remove all that nodes without recent runs left in the store'
          ARGUMENTS = ''
          DESCRIPTION = <<~TEXT
            Deactivates the nodes that have had no run for the time of the option node_ttl, as simpkv node deactivate
            does. Checks each node again before it removes anything, so that a node stays that runs meanwhile. Declared
            records stay. Prints the names of the nodes. Exits with 78 if node_ttl is not set: nodes do not expire then.
          TEXT
          EXAMPLES = {
            'simpkv node expire --dry-run' => 'The nodes that would be removed',
            'simpkv node expire' => 'Once a day, by a timer'
          }.freeze

          def run
            check_lifetime
            names = on_estate { |estate| estate.statuses.expired.sort }
            return present(names, {}, names, 'would be') if @dry_run

            removed = names.empty? ? {} : remove(names)
            present(names, removed, removed.map { |name, subjects| Estate::Removal.line(name, subjects) }, 'were')
          end

          private

          def define(parser)
            parser.on('--dry-run', 'remove nothing; print the nodes that would be removed') { @dry_run = true }
          end

          def check_lifetime
            return if on_estate { |estate| estate.options['node_ttl'] }

            file = configuration.source || SiteFile::DEFAULT
            raise Failure.new("nodes do not expire: set 'node_ttl' of 'estate' in #{file}, such as 'node_ttl: 14d'",
                              Failure::CONFIG)
          end

          def present(names, removed, lines, verb)
            output.print('expired' => names, 'removed' => removed) { lines }
            warn "simpkv: #{Output.count(lines.length, 'node')} #{verb} removed" unless output.data?
          end

          # @return [Hash{String => Hash}] what was removed, by the names of the nodes
          def remove(names)
            removed = {}
            Progress.of('removing', names.length, 'node') do |progress|
              on_estate do |estate|
                estate.expire do |name, subjects|
                  removed[name] = subjects
                  progress.advance
                end
              end
            end
            removed
          end
        end
      end
    end
  end
end
