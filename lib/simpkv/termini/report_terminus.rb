# frozen_string_literal: true

require 'time'
require 'simpkv/termini'
require 'simpkv/termini/plain_data'
require 'simpkv/termini/stored_report'

module Simpkv
  module Termini
    # Reports of nodes: the summary that is stored of each, and what Puppet gets back.
    module ReportTerminus
      # The members of Puppet's reports that are stored as they are. The version of Puppet chooses among them.
      MEMBERS = %w[host status environment noop noop_pending corrective_change puppet_version report_format
                   configuration_version transaction_uuid transaction_completed cached_catalog_status].freeze

      # The number of events that are stored of a report.
      EVENTS_MAX = 100

      # The number of characters that are stored of a message or another text.
      TEXT_MAX = 1000
      private_constant :MEMBERS, :EVENTS_MAX, :TEXT_MAX

      class << self
        # @param report [Puppet::Transaction::Report]
        # @return [void]
        # @raise [Puppet::Error]
        def save(report)
          certname = report.host
          Termini.perform("save the report of '#{certname}'", node: certname) do |estate|
            estate.reports.save(certname, summary(report))
          end
        end

        # @param certname [String]
        # @return [Puppet::Transaction::Report, nil] the last one, as far as its summary goes
        # @raise [Puppet::Error]
        def find(certname)
          search(certname).first
        end

        # @param certname [String]
        # @return [Array<Puppet::Transaction::Report>] the stored ones of a node, newest first
        # @raise [Puppet::Error]
        def search(certname)
          summaries = Termini.perform("read the reports of '#{certname}'", node: certname, otherwise: []) do |estate|
            estate.reports.all(certname, strict: true) { |key, why| Termini.malformed(key, why) }
          end
          summaries.map { |summary| report(certname, summary) }.compact
        end

        # @param certname [String]
        # @return [Boolean] whether there were any
        # @raise [Puppet::Error]
        def delete(certname)
          Termini.perform("delete the reports of '#{certname}'", node: certname, soft: false) do |estate|
            estate.reports.delete(certname)
          end
        end

        # @param report [Puppet::Transaction::Report]
        # @return [Hash] plain data, with further members and counts of Puppet's own:
        #
        #     { 'host' => 'web1', 'time' => '2026-11-23T01:02:03Z', 'status' => 'changed',
        #       'environment' => 'production', 'noop' => false, 'corrective_change' => false,
        #       'puppet_version' => '8.10.0', 'configuration_version' => 1790000000, 'transaction_uuid' => '...',
        #       'resources' => { 'total' => 10, 'changed' => 1, 'failed' => 0 },
        #       'event_counts' => { 'total' => 1, 'success' => 1, 'failure' => 0 }, 'changes' => 1,
        #       'times' => { 'total' => 1.5, 'config_retrieval' => 0.7 },
        #       'events' => [{ 'resource' => 'File[/etc/motd]', 'property' => 'content', 'status' => 'success',
        #                      'time' => '2026-11-23T01:02:03Z', 'message' => '...', 'file' => '...', 'line' => 3 }],
        #       'events_left_out' => 0 }
        def summary(report)
          events = events(report)
          members = MEMBERS.select { |name| report.respond_to?(name) }
          members = members.to_h { |name| [name, member(report.public_send(name))] }.compact
          members.merge('time' => timestamp(report.time), 'events' => events.first(EVENTS_MAX),
                        'events_left_out' => [events.length - EVENTS_MAX, 0].max).merge(counts(report))
        end

        private

        def report(certname, summary)
          Puppet::Transaction::Report.from_data_hash(StoredReport.new(summary).to_data_hash)
        rescue StandardError # Its message may quote values.
          Termini.left_out("a report of '#{certname}'")
        end

        # Agents choose the texts, and the status of the node has some of them.
        def member(value)
          plain = PlainData.of(value)
          plain.is_a?(String) ? text(plain) : plain
        end

        def timestamp(time)
          time = Time.parse(time) if time.is_a?(String)
          time&.utc&.iso8601
        end

        def counts(report)
          { 'resources' => metric(report, 'resources'), 'event_counts' => metric(report, 'events'),
            'changes' => metric(report, 'changes')['total'].to_i,
            'times' => metric(report, 'time').transform_values { |seconds| seconds.to_f.round(3) } }
        end

        # @return [Hash{String => Numeric}] empty if the run did not get that far
        def metric(report, name)
          metric = report.metrics[name]
          metric ? metric.values.to_h { |key, _label, value| [key.to_s, value] } : {}
        end

        # Failures come first, so that they are not left out.
        def events(report)
          events = report.resource_statuses.values.compact.flat_map do |status|
            status.events.map { |event| event(status, event) }
          end
          events.partition { |event| event['status'] == 'failure' }.flatten
        end

        # The message is the one of Puppet's log, which does not show sensitive values. Other members may.
        def event(status, event)
          { 'resource' => text(status.resource), 'property' => text(event.property), 'status' => event.status.to_s,
            'time' => timestamp(event.time), 'message' => text(event.message), 'file' => text(status.file),
            'line' => status.line, 'corrective_change' => event.corrective_change }.compact
        end

        def text(value)
          return if value.nil?

          text = PlainData.of(value.to_s)
          text.length > TEXT_MAX ? "#{text[0, TEXT_MAX]}..." : text
        end
      end
    end
  end
end
