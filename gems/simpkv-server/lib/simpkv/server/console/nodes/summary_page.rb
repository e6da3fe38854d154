# frozen_string_literal: true

require 'simpkv/server/console/failed_runs'
require 'simpkv/server/console/nodes/node_table'
require 'simpkv/server/console/nodes/report_pages'

module Simpkv
  module Server
    module Console
      class Nodes < Section
        # What is known of a node at one glance.
        class SummaryPage < ReportedPage
          TITLE = 'Summary'
          # Lines of the log of the last run, and resources that have failed in it.
          LINES = 30
          FAILURES = 10
          private_constant :LINES, :FAILURES

          private

          def content
            node
            last = part(500) { reports.first(5) }
            errors = node['errors'].merge(report_errors)
            response.status = 500 if errors.any?
            newest = missing?(last) ? nil : last.first
            view(TITLE, 'nodes/summary', reports: last, errors: errors, newest: newest, whole: newest && whole(newest),
                                         status: node['status'] || {}, deactivate: may?('DELETE', api_path),
                                         inspection: node['inspection'] && Estate::Inspections.kind(node['inspection']))
          end

          # @return [FailedRuns] how often the last runs have failed
          def runs
            FailedRuns.of(reports.map { |report| [report.status, report.time] })
          end

          # @return [String, nil] as in the table
          def node_status
            return 'never' if node['never_run']
            return 'unknown' if unreadable?('status')

            NodeTable.status(*(node['status'] || {}).values_at('status', 'noop'))
          end
        end
      end
    end
  end
end
