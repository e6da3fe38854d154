# frozen_string_literal: true

require 'simpkv/cli/output'
require 'simpkv/status/part'

module Simpkv
  module Cli
    # The output of a plugin of Nagios and what is compatible with it: a line with the state and performance data, and
    # then a line for each alert.
    class Nagios
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
      # @param limits [Hash{Symbol => Numeric}] all: see {Status::Alerts.limits}
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

      # @param name [Symbol]
      # @param level [String] `warning` or `critical`
      # @return [Numeric, nil] the limit; nil for none
      def limit(name, level)
        @limits[:"#{name}_#{level}"]
      end

      # @return [String] a performance datum
      def datum(name, value, warning = nil, critical = nil)
        "'#{Nagios.plain(name).tr("'=", '__')}'=#{[value, warning, critical].join(';').sub(/;+\z/, '')}"
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
        told = Status::Part.readable.select { |name, _| @alerts.told?(name) }
        told.flat_map { |name, type| type.performance(@state[name], self) }
      end
    end
  end
end
