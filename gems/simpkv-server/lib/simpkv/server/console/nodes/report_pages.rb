# frozen_string_literal: true

require 'simpkv/server/console/chart'
require 'simpkv/server/console/nodes/node_page'
require 'simpkv/server/console/nodes/report_view'

module Simpkv
  module Server
    module Console
      class Nodes < Section
        # A page of a node that has something of its reports.
        class ReportedPage < NodePage
          private

          # @return [Array<ReportView>] those that can be read, the newest first
          def reports
            @reports ||= stored_reports['reports'].map { |report| ReportView.new(report) }
          end

          # @return [Hash{String => String}] why others cannot be read, by the paths of their documents; empty if the
          #   page has no part about reports
          def report_errors
            stored = part(500) { stored_reports }
            missing?(stored) ? {} : stored['errors']
          end

          # @return [Boolean] whether the store has no report of the node, not even one that cannot be read
          def no_reports?
            reports.empty? && report_errors.empty?
          end

          # @return [ReportView, Missing] the report with its details; why they cannot be shown, if the caller has no
          #   right to them, or if they cannot be read
          def whole(report)
            part(403, 500) { ReportView.new(api.get(Api.path('v1', 'report_details', @certname, report.id))) }
          end

          # @param whole [ReportView]
          # @param lines [Integer] those on the page
          # @return [String] how many lines of the log are not there
          def more_lines(whole, lines)
            Counted.of(whole.log.length - lines, 'more line')
          end

          # @return [ReportView]
          # @raise [Problem] 404; 500 if it may be a report that cannot be read
          def report(id)
            found = reports.find { |report| report.id == id }
            return found if found

            path, why = report_errors.first
            raise MalformedError.unreadable(path, why) if path

            raise Problem.new(404, "'#{@certname}' has no report #{id}: only its last reports are stored, as many " \
                                   "as the option 'reports' says")
          end

          def stored_reports
            @stored_reports ||= api.get(api_path('reports'), 'errors' => 'return').tap do |stored|
              response.status = 500 if stored['errors'].any?
            end
          end
        end

        # The stored reports of a node, and how long their runs took.
        class ReportsPage < ReportedPage
          TITLE = 'Reports'
          # What sorts the table: by default, the newest report is the first one.
          COLUMNS = { 'when' => nil, 'status' => lambda(&:status),
                      'environment' => ->(report) { report.members['Environment'] },
                      'changed' => lambda(&:changed), 'failed' => lambda(&:failed),
                      'seconds' => lambda(&:seconds) }.freeze
          # Runs of the chart.
          CHART = 14
          private_constant :COLUMNS, :CHART

          private

          def content
            demand_node if no_reports?
            list = page_of(in_order(reports.reverse, COLUMNS, from_end: true))
            file_of('reports') { list.rows.map { |report| { 'hash' => report.id, **report.row } } } ||
              view(TITLE, 'nodes/reports', list: list)
          end

          # @param rows [Array<ReportView>] in the order of the table
          # @return [Array<ReportView>] the first two, the earlier one first, whatever sorts the table
          def compared(rows)
            rows.first(2).sort_by { |report| -reports.index(report) }
          end

          # @return [String] HTML: the seconds of the runs of this page; nothing for a single one
          def chart
            shown = reports.first(CHART).select { |report| report.seconds && report.status }.reverse
            return '' if shown.length < 2

            Chart.stacked("Seconds of the last #{shown.length} runs", shown.map { |report| column(report) },
                          shown.map(&:status).uniq)
          end

          def column(report)
            day = report.time.to_s[5, 5]
            Chart::Column.new(day, "#{day}: #{report.seconds} s, #{report.status}, report of #{report.time}",
                              { report.status => report.seconds }, url('nodes', @certname, 'reports', report.id))
          end
        end

        # A report of a node, with its events.
        class ReportPage < ReportedPage
          TITLE = 'Report'
          # The lines of a log on a page, which has at most 100 KB.
          LINES = 100
          private_constant :LINES

          # @param visit [Visit]
          # @param certname [String]
          # @param id [String] of the report; `latest` for the last one
          def initialize(visit, certname, id)
            super(visit, certname)
            @id = id
          end

          private

          def content
            report = report(@id)
            events = report.events.each_with_index.to_a
            found = event_of(given('resource'), events)
            view(TITLE, 'nodes/report', report: report, whole: whole(report), found: found,
                                        list: found ? page_with(found, events) : page_of(events))
          end

          # @param resource [String] that the page is to lead to; empty for none
          # @return [Integer, nil] the number of its first event, or of the first one that failed
          def event_of(resource, events)
            found = events.select { |event, _| event.resource == resource }
            found.min_by { |event, number| [event.failed? ? 0 : 1, number] }&.last
          end

          # @return [Rows::Listed] the page that has an event, unless the address asks for another one
          def page_with(number, events)
            offset, limit = window
            offset = number / limit * limit if given('offset').empty?
            Rows::Listed.new(events.drop(offset).first(limit), events.length, offset, limit)
          end

          def report(id)
            id == 'latest' && reports.any? ? reports.first : super
          end
        end

        # An event of a report.
        class EventPage < ReportPage
          # @param visit [Visit]
          # @param certname [String]
          # @param id [String] see {ReportPage}
          # @param number [String] of the event, from 0
          def initialize(visit, certname, id, number)
            super(visit, certname, id)
            @number = number
          end

          private

          def content
            report = report(@id)
            event = report.events[@number.to_i] if @number.match?(/\A\d{1,4}\z/)
            raise Problem.new(404, 'this report has no such event') unless event

            whole = whole(report)
            event = whole.events[@number.to_i] unless missing?(whole)
            view('Event', 'nodes/event', report: report, event: event)
          end
        end
      end
    end
  end
end
