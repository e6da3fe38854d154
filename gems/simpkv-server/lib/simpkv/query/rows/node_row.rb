# frozen_string_literal: true

module Simpkv
  module Query
    class Rows
      # The row of a node in the table `nodes`.
      class NodeRow
        COLUMNS = %w[certname digest deactivated expired expires seen facts_environment facts_timestamp
                     catalog_environment catalog_timestamp report_environment report_timestamp
                     latest_report_hash latest_report_status latest_report_noop latest_report_noop_pending
                     latest_report_corrective_change latest_report_job_id cached_catalog_status].freeze

        # @param documents [Documents]
        # @param run [LastRun]
        # @param report [Hash{String => Object}, nil] the columns of the newest report
        def initialize(documents, run, report)
          @documents = documents
          @run = run
          @report = report
        end

        # @param lifetime [Numeric, nil] in seconds
        # @param now [Time]
        # @return [Array]
        def values(lifetime, now)
          expires = (Times.later(@run.time, lifetime) if lifetime)
          expired = (expires if expires && expires <= Times.of(now))
          [@documents.certname, @documents.digest, deactivated, expired, expires, @run.time, *facts, *catalog, *report]
        end

        private

        def deactivated
          Times.text(@run.inventory[Estate::Deactivation::MEMBER])
        end

        def facts
          @documents.facts ? [@run.environment, @run.facts_time(@documents.facts)] : [nil, nil]
        end

        # A node that exports nothing has an empty Hash of exports.
        def catalog
          @run.inventory['exports'] || @documents.catalog ? [@run.environment, @run.time] : [nil, nil]
        end

        # A status without the one of a report is that of a run without reports.
        def report
          return from_report if @report

          status = @run.status
          return [nil] * 9 unless status['status']

          [status['environment'], @run.time, nil, status['status'], Form.flag(status['noop']), nil, nil, nil, nil]
        end

        def from_report
          [@report['environment'], @report['end_time'] || @run.time, @report['hash'],
           *@report.values_at('status', 'noop', 'noop_pending', 'corrective_change', 'job_id', 'cached_catalog_status')]
        end
      end
      private_constant :NodeRow
    end
  end
end
