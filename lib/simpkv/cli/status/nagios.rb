# frozen_string_literal: true

require 'simpkv/cli/output'

module Simpkv
  module Cli
    # The output of a plugin of Nagios and what is compatible with it: a line with the state and performance data, and
    # then a line for each alert.
    class Nagios
      # By member of a server: the name of its datum, its unit, and the name of its limits.
      SERVER = { 'latency_ms' => ['latency', 'ms', :latency], 'lag_seconds' => ['lag', 's', :lag],
                 'certificate_days' => ['certificate', '', :certificate] }.freeze
      private_constant :SERVER

      # @param message [String]
      # @return [String] the output if the state cannot be read at all
      def self.unknown(message)
        "SIMPKV UNKNOWN - #{plain(message)}"
      end

      # @return [String] without what ends the text, and the line
      def self.plain(text)
        Output.name(text).tr('|', '/')
      end

      # @param state [Hash{String => Hash}] of {Status::State#get}
      # @param alerts [Status::Alerts]
      # @param limits [Hash{Symbol => Numeric}] see {Status::Alerts::LIMITS}
      def initialize(state, alerts, limits)
        @state = state
        @alerts = alerts
        @limits = limits
      end

      # @return [Array<String>]
      def lines
        data = performance.join(' ')
        texts = @alerts.all.map { |alert| "#{alert.level.upcase}: #{Nagios.plain(alert.text)}" }
        ["SIMPKV #{@alerts.level.upcase} - #{summary}#{" | #{data}" unless data.empty?}", *texts]
      end

      private

      def summary
        first, *others = @alerts.all
        return 'nothing needs attention' unless first

        text = Nagios.plain(first.text)
        others.empty? ? text : "#{text.delete_suffix('.')}. And #{others.length} more."
      end

      # @return [Array<String>] performance data, of the parts that could be read
      def performance
        parts = @state.reject { |_, part| part['error'] || part['configured'] == false }
        servers = parts.dig('servers', 'servers').to_a.flat_map { |server| server(server) }
        # The number of some backends is not that of all.
        parts = parts.reject { |name, part| name == 'expiring_keys' && part['unreadable'].key?('backends') }
        [*servers, *(nodes(parts['nodes']) if parts['nodes']), *counts(parts)]
      end

      def server(server)
        SERVER.select { |member, _| server[member] }.map do |member, (name, unit, limits)|
          scale = name == 'latency' ? 1000 : 1
          # A certificate should have many days left: the alert is below the limit.
          below = ':' if name == 'certificate'
          bounds = %w[warning critical].map { |level| bound(@limits[:"#{limits}_#{level}"], scale, below) }
          datum("#{name} #{server['backend']} #{server['uri']}", "#{server[member]}#{unit}", *bounds)
        end
      end

      def bound(limit, scale, below)
        "#{limit * scale}#{below}" if limit
      end

      def nodes(part)
        [datum('nodes', part['total']),
         datum('nodes_failed', part['statuses']['failed'], *most(:failed)),
         datum('nodes_overdue', part['overdue'], *most(:overdue))]
      end

      # An alert begins at the limit, and a range of Nagios ends before it.
      def most(name)
        %w[warning critical].map { |level| (limit = @limits[:"#{name}_#{level}"]) && (limit - 1) }
      end

      def counts(parts)
        [%w[compilers compilers], %w[expiring_keys total], %w[access differences]].map do |name, member|
          number = parts.dig(name, member)
          number = number.length if number.is_a?(Array)
          datum(name == 'access' ? 'access_differences' : name, number) if number
        end.compact
      end

      def datum(name, value, warning = nil, critical = nil)
        "'#{Nagios.plain(name).tr("'=", '__')}'=#{[value, warning, critical].join(';').sub(/;+\z/, '')}"
      end
    end
  end
end
