# frozen_string_literal: true

require 'simpkv/server/console/nodes/report_comparison'
require 'simpkv/server/console/nodes/report_view'

module Simpkv
  module Server
    # The reports of a node.
    class Console
      private

      # @return [Array<ReportView>] the newest first
      def node_reports
        @node_reports ||= api.get(Api.path('v1', 'nodes', @certname, 'reports')).fetch('reports')
                             .map { |report| ReportView.new(report) }
      end

      def node_reports_page
        demand_node if node_reports.empty?
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
      # @raise [Problem] 404
      def node_report(hash)
        node_reports.find { |report| report.id == hash } ||
          raise(Problem.new(404, "'#{@certname}' has no report #{hash}: only its last reports are stored, as many as " \
                                 "the option 'reports' says"))
      end

      def node_compare_page
        from, to, other = %w[from to with].map { |name| given(name) }
        return node_catalogs_compared(other) unless other.empty?
        return node_reports_compared(from, to) unless from.empty? && to.empty?

        reports = part { node_reports.first(NODE_ROWS) }
        demand_node if missing?(reports) || reports.empty?
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
