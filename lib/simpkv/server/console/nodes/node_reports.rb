# frozen_string_literal: true

require 'simpkv/server/console/nodes/report_comparison'
require 'simpkv/server/console/nodes/report_view'

module Simpkv
  module Server
    # The reports of a node.
    class Console
      private

      # @return [Array<ReportView>] those that can be read, the newest first
      def node_reports
        @node_reports ||= stored_reports['reports'].map { |report| ReportView.new(report) }
      end

      # @return [Hash{String => String}] why others cannot be read, by the paths of their documents; empty if the page
      #   has no part about reports
      def node_report_errors
        stored = part(500) { stored_reports }
        missing?(stored) ? {} : stored['errors']
      end

      def stored_reports
        @stored_reports ||= api.get(Api.path('v1', 'nodes', @certname, 'reports'), 'errors' => 'return').tap do |stored|
          response.status = 500 if stored['errors'].any?
        end
      end

      # @return [Boolean] whether the store has no report of the node, not even one that cannot be read
      def no_reports?
        node_reports.empty? && node_report_errors.empty?
      end

      def node_reports_page
        demand_node if no_reports?
        node_view('Reports', 'node_reports', list: page_of(node_reports))
      end

      def node_report_page(hash)
        at('/nodes/{certname}/reports/{hash}')
        report = hash == 'latest' && node_reports.any? ? node_reports.first : node_report(hash)
        event = given('event')
        return node_event_page(report, event) unless event.empty?

        node_view('Report', 'node_report', report: report, list: page_of(report.events.each_with_index.to_a))
      end

      def node_event_page(report, number)
        event = report.events[number.to_i] if number.match?(/\A\d{1,4}\z/)
        raise Problem.new(404, 'this report has no such event') unless event

        node_view('Event', 'node_event', report: report, event: event)
      end

      # @return [ReportView]
      # @raise [Problem] 404; 500 if it may be a report that cannot be read
      def node_report(hash)
        found = node_reports.find { |report| report.id == hash }
        return found if found

        path, why = node_report_errors.first
        raise MalformedError.unreadable(path, why) if path

        raise Problem.new(404, "'#{@certname}' has no report #{hash}: only its last reports are stored, as many as " \
                               "the option 'reports' says")
      end

      def node_compare_page
        from, to, other = %w[from to with].map { |name| given(name) }
        return node_catalogs_compared(other) unless other.empty?
        return node_reports_compared(from, to) unless from.empty? && to.empty?

        reports = part { node_reports.first(NODE_ROWS) }
        demand_node if missing?(reports) || no_reports?
        node_view('Compare', 'node_compare', reports: reports)
      end

      def node_reports_compared(from, to)
        from, to = [from, to].map { |hash| node_report(hash) }
        comparison = ReportComparison.new(from, to)
        tables = { 'Runs' => comparison.members, 'Numbers of resources' => comparison.resources,
                   'Seconds' => comparison.times }
        node_view('Compare', 'node_compare_reports',
                  from: from, to: to, tables: tables, list: page_of(comparison.events), more: comparison.left_out,
                  only: { from => comparison.only_from, to => comparison.only_to })
      end
    end
  end
end
