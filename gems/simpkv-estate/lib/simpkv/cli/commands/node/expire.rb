# frozen_string_literal: true

require 'simpkv/cli/estate/estate_command'
require 'simpkv/cli/progress'

module Simpkv
  module Cli
    module Commands
      module Node
        # Removes what nodes left that have had no run for a long time, and reports that are too old.
        class Expire < EstateCommand
          SUMMARY = 'remove all that nodes without recent runs, and deactivated ones, left in the store'
          ARGUMENTS = ''
          DESCRIPTION = <<~TEXT
            Removes the nodes that have had no run for the time of the option node_ttl, and those that were deactivated
            longer ago than the time of the option node_purge_ttl, as simpkv node deactivate --purge does. Checks each
            node again before it removes anything, so a node that runs meanwhile stays. Declared records stay. Prints
            the names of the nodes. Then deletes the reports of all nodes that are older than the option report_ttl.
            Exits with 65 if a node could not be removed.
          TEXT
          EXAMPLES = {
            'simpkv node expire --dry-run' => 'The nodes that would be removed',
            'simpkv node expire' => 'Once a day, by a timer'
          }.freeze

          def run
            names = on_estate(&:removable)
            return present(names, {}, names, old_reports) if @dry_run

            errors = {}
            expire(names, errors)
            report(errors)
          end

          private

          def define(parser)
            parser.on('--dry-run', 'remove nothing; print the nodes that would be removed') { @dry_run = true }
          end

          # Prints what was removed, also if the store fails then.
          def expire(names, errors)
            removed = {}
            remove(names, removed, errors)
            reports = old_reports
            complete = true
          ensure
            if complete || removed.any?
              present(names, removed, removed.map { |name, subjects| Estate::Removal.line(name, subjects) }, reports)
            end
          end

          def present(names, removed, lines, reports)
            output.print({ 'expired' => names, 'removed' => removed, 'reports' => reports }.compact) { lines }
            return if output.data?

            were = lines.length == 1 ? 'was' : 'were'
            warn "simpkv: #{Output.count(lines.length, 'node')} #{@dry_run ? 'would be' : were} removed"
            warn "simpkv: #{@dry_run ? 'would delete' : 'deleted'} #{Output.count(reports, 'old report')}" if reports
          end

          # Deletes the reports that are too old, or only counts them.
          #
          # @return [Integer, nil] their number; nil if reports do not expire
          def old_reports
            on_estate do |estate|
              next unless estate.reports.limit
              next estate.reports.expire unless @dry_run

              count = 0
              estate.reports.each_old { count += 1 }
              count
            end
          end

          # @param removed [Hash{String => Hash}] receives what was removed, by the names of the nodes
          # @param errors [Hash{String => String}] receives why others were not
          def remove(names, removed, errors)
            return on_estate { |estate| estate.expire(errors) } if names.empty?

            Progress.of('removing', names.length, 'node') do |progress|
              on_estate do |estate|
                estate.expire(errors) do |name, subjects|
                  removed[name] = subjects
                  progress.advance
                end
              end
            end
          end
        end
      end
    end
  end
end
