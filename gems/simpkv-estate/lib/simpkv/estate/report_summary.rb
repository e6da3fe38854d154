# frozen_string_literal: true

module Simpkv
  class Estate
    # Summaries of Puppet's reports, which {Reports} stores:
    #
    #     { 'host' => 'web1', 'time' => '2026-11-23T01:02:03Z', 'status' => 'changed',
    #       'environment' => 'production', 'noop' => false, 'corrective_change' => false,
    #       'producer' => 'puppet1', 'producer_timestamp' => '2026-11-23T01:02:04.567Z', 'puppet_version' => '8.10.0',
    #       'configuration_version' => 1790000000, 'transaction_uuid' => '...',
    #       'resources' => { 'total' => 10, 'changed' => 1, 'failed' => 0 },
    #       'event_counts' => { 'total' => 1, 'success' => 1, 'failure' => 0 }, 'changes' => 1,
    #       'times' => { 'total' => 1.5, 'config_retrieval' => 0.7 },
    #       'events' => [{ 'resource' => 'File[/etc/motd]', 'property' => 'content', 'status' => 'success',
    #                      'time' => '2026-11-23T01:02:03Z', 'message' => '...', 'file' => '...', 'line' => 3 }],
    #       'events_left_out' => 0 }
    #
    # The events of a report with details ({WholeReport}) have `name` and `containment_path` as well, and a resource
    # that was skipped has an event without a property. `details` is a token of the details then: see {ReportDetails}.
    #
    # Agents choose the texts and the number of events, so both have a limit.
    module ReportSummary
      # The members of reports that are stored as they are. The version of Puppet chooses among them.
      MEMBERS = %w[host status environment noop noop_pending corrective_change puppet_version report_format
                   configuration_version transaction_uuid transaction_completed cached_catalog_status catalog_uuid
                   code_id job_id server_used].freeze

      # The number of events that are stored of a report.
      EVENTS_MAX = 100

      # The number of characters that are stored of a message or another text.
      TEXT_MAX = 1000

      # The status of an event that stands for a resource which was skipped.
      SKIPPED = 'skipped'

      # The members of events that only a report with details has.
      WHOLE = %w[name containment_path values].freeze
      private_constant :EVENTS_MAX, :TEXT_MAX, :WHOLE

      class << self
        # @param members [Hash{String => Object}] those of {MEMBERS}, and `time`; nil for an unknown one
        # @param metrics [Hash{String => Hash{String => Numeric}}] by Puppet's categories `resources`, `events`,
        #   `changes` and `time`
        # @param events [Array<Hash>] of {WholeReport}
        # @return [Hash{String => Object}] the summary of a report without details (`report_logs: false`)
        def of(members, metrics, events)
          # Failures come first, so that they are not left out.
          events = events.reject { |event| event['status'] == SKIPPED }
                         .partition { |event| event['status'] == 'failure' }.flatten
          shown = events.first(EVENTS_MAX).map { |event| limited(event.reject { |name, _| WHOLE.include?(name) }) }
          counts = counts(metrics)
          rounded = counts['times'].transform_values { |seconds| seconds.to_f.round(3) }
          limited(members).merge('events' => shown, 'events_left_out' => events.length - shown.length)
                          .merge(counts, 'times' => rounded)
        end

        # @param members [Hash{String => Object}] as for {of}, as for `metrics`
        # @param events [Array<Hash>] those that are kept, as they are stored
        # @param left_out [Integer] the number of the others
        # @return [Hash{String => Object}] the summary of a report with details
        def whole(members, metrics, events, left_out)
          limited(members).merge('events' => events, 'events_left_out' => left_out).merge(counts(metrics))
        end

        # @param time [Time, nil]
        # @return [String, nil] in UTC, with the digits that it has
        def time(time)
          time && time.getutc.iso8601(9).sub(/(?:\.0+|(?<=[1-9])0+)Z\z/, 'Z')
        end

        private

        def limited(members)
          members.compact.transform_values { |value| value.is_a?(String) ? text(value) : value }
        end

        def text(value)
          value.length > TEXT_MAX ? "#{value[0, TEXT_MAX]}..." : value
        end

        # A run that did not get far has no metrics. Then it has no number of changes either.
        def counts(metrics)
          resources, events, changes, times = %w[resources events changes time].map { |name| metrics[name] || {} }
          { 'resources' => resources, 'event_counts' => events, 'changes' => changes['total']&.to_i, 'times' => times }
            .compact
        end
      end
    end
  end
end
