# frozen_string_literal: true

require 'simpkv/estate/report_cut'
require 'simpkv/estate/report_secrets'

module Simpkv
  class Estate
    # A report with all that Puppet sends, as plain data. It becomes two documents (docs/adr/0112): a summary with the
    # events ({ReportSummary}), which is read often, and details ({ReportDetails}), which are read rarely:
    #
    #     { 'logs' => [{ 'level' => 'notice', 'message' => '...', 'source' => '...', 'tags' => ['notice'],
    #                    'time' => '2026-11-23T01:02:03.123Z', 'file' => '...', 'line' => 3 }],
    #       'values' => [{ 'old' => '0600', 'new' => '0644' }],
    #       'statuses' => { 'File[/etc/motd]' => { 'changed' => true, 'tags' => ['file'] } } }
    #
    # `values` has an item for each event of the summary, null for one without values. `statuses` has what Puppet knows
    # of a resource beside its events; without Puppet, there are none. Secrets are replaced before both are made.
    class WholeReport
      # The levels of lines of a log that are kept rather than others, the most important ones first.
      LEVELS = [%w[emerg alert crit err], %w[warning]].freeze
      # The order in which events are kept, by their status. Others are between these.
      STATUSES = { 'failure' => 0, 'skipped' => 2 }.freeze
      # The member of an event that is not in the summary.
      VALUES = 'values'
      # The source of the line that says what is left out, and what its message begins with.
      SOURCE = 'simpkv'
      LEFT_OUT = 'simpkv left out '
      private_constant :LEVELS, :STATUSES, :VALUES, :SOURCE, :LEFT_OUT

      # What {#parts} has returned before.
      Parts = Struct.new(:summary, :details) do
        # @return [Array(Hash, Hash)] see {WholeReport#parts}
        def parts(_options, _names)
          to_a
        end
      end

      # @param members [Hash{String => Object}] see {ReportSummary.of}, as for `metrics`
      # @param events [Array<Hash>] with the member `values`, a Hash, or nil
      # @param logs [Array<Hash>] see above
      # @param statuses [Hash{String => Hash}] see above
      def initialize(members, metrics, events, logs, statuses = {})
        @members = members
        @metrics = metrics
        @events = events
        @logs = logs
        @statuses = statuses
      end

      # @param options [Hash{String => Object}] of the estate
      # @param names [SecretNames]
      # @return [Array(Hash, Hash)] the summary, and the details; nil in place of these with `report_logs: false`
      def parts(options, names)
        return [ReportSummary.of(@members, @metrics, @events), nil] unless options['report_logs']

        @bytes = options['report_bytes']
        @secrets = ReportSecrets.new(names)
        events = kept_events(options['report_events'])
        [ReportSummary.whole(@members, @metrics, events.map { |event| event.reject { |name, _| name == VALUES } },
                             @events.length - events.length),
         details(events, options['report_log_lines'])]
      end

      private

      # @return [Array<Hash>] the events that are kept
      def kept_events(limit)
        order = @events.each_with_index.sort_by { |event, index| [STATUSES.fetch(event['status'], 1), index] }
        events = order.map { |event, _| ReportCut.texts(@secrets.event(event)) }
        ReportCut.new(@bytes).first(events, limit) { |event| event.reject { |name, _| name == VALUES } }
      end

      # Values are kept first, then the log, then what only Puppet asks for.
      def details(events, lines)
        cut = ReportCut.new(@bytes)
        values = kept_values(cut, events)
        logs, left_out, earlier = kept_logs(cut, lines)
        note = note(@events.length - events.length, left_out,
                    events.count { |event| event[VALUES] } - values.compact.length)
        { 'logs' => logs + earlier + note, 'values' => values,
          'statuses' => cut.first(@statuses.to_a) { |status| status }.to_h }
          .reject { |_, part| part.empty? }
      end

      # @return [Array<Hash, nil>] one for each event, or none
      def kept_values(cut, events)
        values = events.map { |event| event[VALUES] if event[VALUES] && cut.fit?(event[VALUES]) }
        values.any? ? values : []
      end

      # @return [Array(Array<Hash>, Integer, Array<Hash>)] the most important lines, in their order; the number of the
      #   others; and the note, if there is one
      def kept_logs(cut, limit)
        lines = @secrets.logs(@logs).map { |line| ReportCut.texts(line) }
        earlier = note?(lines.last) ? [lines.pop] : []
        order = lines.each_with_index.sort_by { |line, index| [importance(line), index] }
        kept = cut.first(order, limit) { |line, _| line }.sort_by(&:last).map(&:first)
        [kept, lines.length - kept.length, earlier]
      end

      def importance(line)
        LEVELS.index { |levels| levels.include?(line['level']) } || LEVELS.length
      end

      # @return [Boolean] whether a line is the note of the service that has written an archive
      def note?(line)
        !line.nil? && line['source'] == SOURCE && line['message'].to_s.start_with?(LEFT_OUT)
      end

      # @return [Array<Hash>] the last line of a log, if something is left out
      def note(events, lines, values)
        parts = { 'event' => events, 'line of the log' => lines }.reject { |_, count| count.zero? }
        parts = parts.map { |what, count| "#{count} #{count == 1 ? what : what.sub(/(?<=event|line)/, 's')}" }
        parts << "the values of #{Counted.of(values, 'event')}" if values.positive?
        return [] if parts.empty?

        [{ 'level' => 'warning', 'source' => SOURCE, 'tags' => %w[simpkv warning], 'time' => @members['time'],
           'message' => "#{LEFT_OUT}#{parts.join(', ')} of this report: see 'report_events', " \
                        "'report_log_lines' and 'report_bytes' of 'estate'" }]
      end
    end
  end
end
