# frozen_string_literal: true

module Simpkv
  class Estate
    # Summaries of Puppet's reports, which {Reports} stores:
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
    #
    # Agents choose the texts and the number of events, so both have a limit.
    module ReportSummary
      # The members of reports that are stored as they are. The version of Puppet chooses among them.
      MEMBERS = %w[host status environment noop noop_pending corrective_change puppet_version report_format
                   configuration_version transaction_uuid transaction_completed cached_catalog_status].freeze

      # The number of events that are stored of a report.
      EVENTS_MAX = 100

      # The number of characters that are stored of a message or another text.
      TEXT_MAX = 1000
      private_constant :EVENTS_MAX, :TEXT_MAX

      class << self
        # @param members [Hash{String => Object}] those of {MEMBERS}, and `time`; nil for an unknown one
        # @param metrics [Hash{String => Hash{String => Numeric}}] by Puppet's categories `resources`, `events`,
        #   `changes` and `time`
        # @param events [Array<Hash>] as above; nil for what is unknown
        # @return [Hash{String => Object}] the summary
        def of(members, metrics, events)
          # Failures come first, so that they are not left out.
          events = events.partition { |event| event['status'] == 'failure' }.flatten
          limited(members).merge('events' => events.first(EVENTS_MAX).map { |event| limited(event) },
                                 'events_left_out' => [events.length - EVENTS_MAX, 0].max).merge(counts(metrics))
        end

        private

        def limited(members)
          members.compact.transform_values { |value| value.is_a?(String) ? text(value) : value }
        end

        def text(value)
          value.length > TEXT_MAX ? "#{value[0, TEXT_MAX]}..." : value
        end

        # A run that did not get far has no metrics.
        def counts(metrics)
          resources, events, changes, times = %w[resources events changes time].map { |name| metrics[name] || {} }
          { 'resources' => resources, 'event_counts' => events, 'changes' => changes['total'].to_i,
            'times' => times.transform_values { |seconds| seconds.to_f.round(3) } }
        end
      end
    end
  end
end
