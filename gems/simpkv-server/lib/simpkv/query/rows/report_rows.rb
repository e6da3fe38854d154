# frozen_string_literal: true

require 'simpkv/estate'

module Simpkv
  module Query
    class Rows
      # The rows of a node's reports, which are summaries (Estate::ReportSummary). They have no logs, and no values of
      # events.
      class ReportRows
        COLUMNS = { 'reports' => %w[hash latest run receive_time start_time end_time producer_timestamp producer
                                    environment status noop noop_pending corrective_change type puppet_version
                                    report_format configuration_version transaction_uuid catalog_uuid code_id job_id
                                    cached_catalog_status metrics logs].freeze,
                    'events' => %w[report status timestamp resource_type resource_title property name corrective_change
                                   new_value old_value message file line containing_class containment_path].freeze }
                  .freeze

        # The members of a summary that are metrics, and PuppetDB's names of these.
        METRICS = { 'resources' => 'resources', 'times' => 'time', 'event_counts' => 'events' }.freeze
        private_constant :METRICS

        # @param documents [Documents]
        # @param secret_names [Estate::SecretNames]
        def initialize(documents, secret_names)
          @secret_names = secret_names
          @certname = documents.certname
          @what = "the reports of '#{documents.certname}'"
          @reports = documents.reports
        end

        # @return [Hash{String => Array<Array>}] rows by table
        # @raise [MalformedError]
        def rows
          reports = Form.hashes(@reports, @what).map { |report| Estate::Reports.without_secrets(report, @secret_names) }
          reports = reports.map { |report| [Estate::Reports.hash_of(@certname, report, @secret_names), report] }
                           .uniq(&:first)
          { 'reports' => reports.each_with_index.map { |(hash, report), index| row(hash, report, index.zero?) },
            'events' => reports.flat_map { |hash, report| events(hash, report) } }
        end

        private

        def row(hash, report, latest)
          times = Form.hash(report['times'], @what)
          received = Times.text(report['received'])
          [hash, Form.flag(latest), Form.integer(report['run']), received, Times.text(report['time']),
           Times.later(report['time'], times['total']), received, nil, *texts(report, 'environment', 'status'),
           *flags(report), 'agent', *texts(report, 'puppet_version'), Form.integer(report['report_format']),
           *texts(report, 'configuration_version', 'transaction_uuid'), nil, nil, nil,
           *texts(report, 'cached_catalog_status'), Native.generate(metrics(report)), '[]']
        end

        def flags(report)
          report.values_at('noop', 'noop_pending', 'corrective_change').map { |value| Form.flag(value) }
        end

        def texts(report, *names)
          report.values_at(*names).map { |value| value&.to_s }
        end

        def metrics(report)
          lists = METRICS.map do |member, category|
            Form.hash(report[member], @what).map { |name, value| metric(category, name, value) }
          end
          changes = report['changes'] ? [metric('changes', 'total', report['changes'])] : []
          lists.flatten + changes
        end

        def metric(category, name, value)
          { 'category' => category, 'name' => name, 'value' => value }
        end

        def events(hash, report)
          Form.hashes(report['events'], @what).map do |event|
            [hash, *texts(event, 'status'), Times.text(event['time']), *reference(event), *texts(event, 'property'),
             nil, Form.flag(event['corrective_change']), nil, nil, *texts(event, 'message', 'file'),
             Form.integer(event['line']), nil, nil]
          end
        end

        def reference(event)
          Form.reference(event['resource']) || [nil, nil]
        end
      end
      private_constant :ReportRows
    end
  end
end
