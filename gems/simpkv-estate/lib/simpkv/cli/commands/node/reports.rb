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
          ANYWHERE = true
          DESCRIPTION = <<~TEXT
            Prints a line for each stored report of a node, the newest first: time, status, the numbers of changed and
            of failed resources, and environment. The option reports says how many are kept. With --events, prints the
            events of each report too, with their old and new values; with --logs, its log. For programs, prints all
            that is stored of each report. Prints [redacted] for the message and the values of an event whose property
            has the name of a secret, unless --show-secrets is given: what was hidden before it was stored stays hidden.
            Exits with 66 if there is no report.
          TEXT
          EXAMPLES = {
            'simpkv node reports web1' => 'In short',
            'simpkv node reports web1 --events --limit 1' => 'All that the last run changed',
            'simpkv node reports web1 --logs --limit 1' => 'The log of the last run',
            'simpkv node reports web1 -o json' => 'For a program'
          }.freeze

          def run(name)
            errors = {}
            reports = read(name, errors)
            not_there(name, 'there is no report of a node', node_names) if reports.empty? && errors.empty?
            reports = reports.map { |report| Estate::Reports.whole(secrets(estate).report(report)) }
            output.print(reports) { @events || @logs ? with_parts(reports) : NodeReports.table(reports) }
            report(errors)
          end

          private

          def define(parser)
            parser.on('--events', 'print the events, too') { @events = true }
            parser.on('--logs', 'print the log, too') { @logs = true }
            define_show_secrets(parser)
            parser.on('--limit N', Integer, 'only the last N reports') do |number|
              raise Failure.new('--limit must be 1 or more', Failure::USAGE) unless number.positive?

              @limit = number
            end
          end

          # @return [Array<Hash>] reports, with their details if they are printed
          def read(name, errors)
            on_estate do |estate|
              count = @limit || estate.options['reports']
              next estate.reports.whole(name, count) { |key, why| errors[key] = why } if whole?

              estate.reports.all(name) { |key, why| errors[key] = why }.first(count)
            end
          end

          def whole?
            @events || @logs || output.data?
          end

          def with_parts(reports)
            table = NodeReports.table(reports)
            [table.first, *table.drop(1).zip(reports).flat_map do |line, report|
              [line, *(events(report) if @events), *(log(report) if @logs)]
            end].compact
          end

          def log(report)
            report['logs'].grep(Hash).map do |line|
              parts = [line['level'], line['source'], line['message']]
              "  #{parts.compact.map { |part| Output.name(part.to_s) }.join(': ')}"
            end
          end

          def events(report)
            lines = (report['events'] || []).grep(Hash).map do |event|
              place = [event['resource'], event['property']].compact.join(' ')
              parts = [event['status'], place, event['message'], *values(event)].compact
              "  #{parts.map { |part| Output.name(part.to_s) }.join(': ')}"
            end
            left_out = report['events_left_out'].to_i
            left_out.zero? ? lines : [*lines, "  and #{Output.count(left_out, 'event')} that the report leaves out"]
          end

          def values(event)
            values = event.values_at('old_value', 'new_value')
            values.map { |value| value.is_a?(String) ? value : Native.generate(value) }.join(' -> ') if values.any?
          end
        end
      end
    end
  end
end
