# frozen_string_literal: true

require 'simpkv/estate'

module Simpkv
  module Query
    class Rows
      # The rows of a node's reports, which are summaries (Estate::ReportSummary). They have no logs, and no values of
      # events: these are read from the store when an answer has them (Query::ReportDetails).
      class ReportRows
        COLUMNS = { 'reports' => %w[hash latest run receive_time start_time end_time producer_timestamp producer
                                    environment status noop noop_pending corrective_change type puppet_version
                                    report_format configuration_version transaction_uuid catalog_uuid code_id job_id
                                    cached_catalog_status details].freeze,
                    'metrics' => %w[report metrics],
                    'events' => %w[report number status timestamp resource_type resource_title property name
                                   corrective_change message file line containing_class containment_path].freeze }
                  .freeze

        # What a class is called in a path: the other elements are a stage and resources.
        CLASS = /[^\]]\z/.freeze

        # The members of a summary that are metrics, and PuppetDB's names of these.
        METRICS = { 'resources' => 'resources', 'times' => 'time', 'event_counts' => 'events' }.freeze
        private_constant :METRICS, :CLASS

        # @param documents [Documents]
        # @param secret_names [Estate::SecretNames]
        def initialize(documents, secret_names)
          @secret_names = secret_names
          @secrets = Estate::ReportSecrets.new(secret_names)
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
            'metrics' => reports.map { |hash, report| [hash, Native.generate(metrics(report))] },
            'events' => reports.flat_map { |hash, report| events(hash, report) } }
        end

        private

        def row(hash, report, latest)
          received = Times.text(report['received'])
          [hash, Form.flag(latest), Form.integer(report['run']), received, Times.text(report['time']), ended(report),
           Times.text(report['producer_timestamp']) || received, *texts(report, 'producer', 'environment', 'status'),
           *flags(report), (report['type'] || 'agent').to_s,
           *texts(report, 'puppet_version'), Form.integer(report['report_format']),
           *texts(report, 'configuration_version', 'transaction_uuid', 'catalog_uuid', 'code_id', 'job_id',
                  'cached_catalog_status'), report['details']&.to_s]
        end

        def ended(report)
          times = Form.hash(report['times'], @what)
          Times.text(report['end_time']) || Times.later(report['time'], times['total'])
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
          Form.hashes(report['events'], @what).each_with_index.map do |event, number|
            secret = @secrets.secret?(*event.values_at('resource', 'property'))
            [hash, secret ? nil : number, *texts(event, 'status'), Times.text(event['time']), *reference(event),
             *texts(event, 'property', 'name'), Form.flag(event['corrective_change']), *texts(event, 'message', 'file'),
             Form.integer(event['line']), *containment(event['containment_path'])]
          end
        end

        # @return [Array(String, String)] the innermost class, and the path
        def containment(path)
          return [nil, nil] unless path.is_a?(Array) && path.all?(String)

          [path.reverse.find { |name| CLASS.match?(name) }, Native.generate(path)]
        end

        def reference(event)
          Form.reference(event['resource']) || [nil, nil]
        end
      end
      private_constant :ReportRows
    end
  end
end
