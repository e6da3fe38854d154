# frozen_string_literal: true

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

        # The stored reports of a node.
        class ReportsPage < ReportedPage
          TITLE = 'Reports'

          private

          def content
            demand_node if no_reports?
            view(TITLE, 'nodes/reports', list: page_of(reports))
          end
        end

        # A report of a node, with its events.
        class ReportPage < ReportedPage
          TITLE = 'Report'

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
            view(TITLE, 'nodes/report', report: report, list: page_of(report.events.each_with_index.to_a))
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

            view('Event', 'nodes/event', report: report, event: event)
          end
        end
      end
    end
  end
end
