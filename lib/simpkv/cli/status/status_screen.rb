# frozen_string_literal: true

require 'simpkv/cli/output'
require 'simpkv/status/part'

module Simpkv
  module Cli
    # The state of a site in lines, for people.
    class StatusScreen
      # The most rows of a table.
      ROWS = 20
      private_constant :ROWS

      # @param state [Hash{String => Hash}] of {Status::State#get}
      # @param alerts [Status::Alerts]
      # @param time [Time]
      def initialize(state, alerts, time)
        @state = state
        @alerts = alerts
        @time = time
      end

      # @return [Array<String, StateLine>]
      def lines
        alerts = @alerts.all.map { |alert| StateLine.new(alert.level, "#{alert.level.ljust(8)}  #{alert.text}") }
        parts = Status::Part.readable.select { |name, _| @state.key?(name) }.flat_map do |name, type|
          ['', type::TITLE, *section(type, @state[name]).map { |line| "  #{line}" }]
        end
        [StateLine.new(@alerts.level, "#{@alerts.level} at #{@time.utc.iso8601}"), *alerts, *parts]
      end

      # @param number [Numeric, nil]
      # @param unit [String]
      # @return [String]
      def unit(number, unit)
        number ? "#{number} #{unit}" : '-'
      end

      # @param head [Array<String>]
      # @param rows [Array<Array>]
      # @param total [Integer] the number of all rows
      # @return [Array<String>] a table of the first rows, and how many more there are
      def table(head, rows, total = rows.length)
        shown = rows.first(ROWS)
        more = total - shown.length
        Output.table([head, *shown]) + (more.positive? ? ["and #{more} more"] : [])
      end

      private

      # The alerts have the reason.
      def section(type, part)
        part['error'] ? ['cannot be read: see above'] : type.lines(part, self)
      end
    end
  end
end
