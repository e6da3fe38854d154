# frozen_string_literal: true

require 'simpkv/cli/estate/estate_command'
require 'simpkv/cli/estate/node_reports'

module Simpkv
  module Cli
    module Commands
      module Node
        # Prints the last reports of a node.
        class Reports < EstateCommand
          SUMMARY = 'print the last reports of a node'
          ARGUMENTS = 'NODE'
          DESCRIPTION = <<~TEXT
            Prints a line for each stored report of a node, the newest first: time, status, the numbers of changed and
            of failed resources, and environment. The option reports says how many are kept. With --events, prints the
            events of each report too. For programs, prints all that is stored of each report. Prints [redacted] for
            the message of an event whose property has the name of a secret, unless --show-secrets is given. Exits with
            66 if there is no report.
          TEXT
          EXAMPLES = {
            'simpkv node reports web1' => 'In short',
            'simpkv node reports web1 --events --limit 1' => 'All that the last run changed',
            'simpkv node reports web1 -o json' => 'For a program'
          }.freeze

          def run(name)
            errors = {}
            reports = on_estate { |estate| estate.reports.all(name) { |key, why| errors[key] = why } }
            reports = reports.first(@limit) if @limit
            not_there(name, 'there is no report of a node', node_names) if reports.empty? && errors.empty?
            reports = reports.map { |each| secrets(estate).report(each) }
            output.print(reports) { @events ? with_events(reports) : NodeReports.table(reports) }
            report(errors)
          end

          private

          def define(parser)
            parser.on('--events', 'print the events, too') { @events = true }
            define_show_secrets(parser)
            parser.on('--limit N', Integer, 'only the last N reports') do |number|
              raise Failure.new('--limit must be 1 or more', Failure::USAGE) unless number.positive?

              @limit = number
            end
          end

          def with_events(reports)
            table = NodeReports.table(reports)
            [table.first, *table.drop(1).zip(reports).flat_map { |line, report| [line, *events(report)] }].compact
          end

          def events(report)
            lines = (report['events'] || []).grep(Hash).map do |event|
              place = [event['resource'], event['property']].compact.join(' ')
              "  #{[event['status'], place, event['message']].compact.map { |part| Output.name(part.to_s) }.join(': ')}"
            end
            left_out = report['events_left_out'].to_i
            left_out.zero? ? lines : [*lines, "  and #{Output.count(left_out, 'event')} that the report leaves out"]
          end
        end
      end
    end
  end
end
