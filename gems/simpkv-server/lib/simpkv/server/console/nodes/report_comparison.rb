# frozen_string_literal: true

require 'simpkv/server/console/nodes/report_view'

module Simpkv
  module Server
    module Console
      # What differs between two reports of a node.
      class ReportComparison
        # A line of a table: what the value is of, both values, and the difference of two numbers.
        Line = Struct.new(:name, :from, :to, :change)
        # An event: nil for the report that does not have it.
        Difference = Struct.new(:resource, :property, :from, :to)

        # @param from [ReportView]
        # @param to [ReportView]
        def initialize(from, to)
          @from = from
          @to = to
        end

        # @return [Array<Line>] of the runs
        def members
          lines(&:members)
        end

        # @return [Array<Line>] numbers of resources
        def resources
          lines(&:resources)
        end

        # @return [Array<Line>] seconds
        def times
          lines(&:times)
        end

        # @return [Array<Difference>] the events that are in one report only, or differ in status or message
        def events
          from, to = [@from, @to].map { |report| keyed(report.events) }
          keys = (from.keys | to.keys).reject { |key| same?(from[key], to[key]) }
          keys.sort.map { |key| Difference.new(*key.first(2), from[key], to[key]) }
        end

        # @return [Array<String>] the resources with events in the first report only
        def only_from
          named(@from) - named(@to)
        end

        # @return [Array<String>] the resources with events in the second report only
        def only_to
          named(@to) - named(@from)
        end

        # @return [Integer] the number of events of both that are not stored, and not compared
        def left_out
          @from.left_out + @to.left_out
        end

        private

        def lines(&part)
          from, to = [@from, @to].map(&part)
          (from.keys | to.keys).reject { |name| from[name] == to[name] }.map do |name|
            values = [from[name], to[name]]
            change = (values.last - values.first).round(3) if values.all?(Numeric)
            Line.new(name, *values, change)
          end
        end

        # A resource may have several events of a property.
        def keyed(events)
          events.group_by { |event| [event.resource, event.property] }.flat_map do |key, same|
            same.each_with_index.map { |event, index| [[*key, index], event] }
          end.to_h
        end

        def same?(*events)
          from, to = events.map { |event| event&.to_h&.slice(:status, :message, :corrective) }
          from == to
        end

        def named(report)
          report.events.map(&:resource).uniq
        end
      end
    end
  end
end
