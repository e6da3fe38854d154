# frozen_string_literal: true

module Simpkv
  module Server
    module Console
      # The runs of the last days, as a chart and as a table.
      class RunChart
        # From the bottom of a column to its top: what needs attention has a common line to be compared along.
        STATUSES = %w[failed changed noop unchanged unknown].freeze
        private_constant :STATUSES

        # @param part [Hash] `runs` of the state
        # @return [RunChart, nil] nil if it is not told
        def self.of(part)
          new(part) if part.key?('days')
        end

        def initialize(part)
          @part = part
        end

        # @return [Array<Hash>] by day
        def days
          @part['days']
        end

        # @return [Array<String>] of which a run has one
        def statuses
          STATUSES.select { |status| status != 'unknown' || total_of(status).positive? }
        end

        # @return [Integer]
        def total
          STATUSES.sum { |status| total_of(status) }
        end

        # @return [String, nil] the time before which runs can be missing; nil if none is missing on the chart
        def complete_since
          since = @part['complete_since']
          since if since && since > days.first['date']
        end

        # @return [Integer]
        def reports_per_node
          @part['reports_per_node']
        end

        # @return [String] HTML
        def svg
          columns = days.map do |day|
            Chart::Column.new(day['date'][-2, 2], day['date'], day.slice(*STATUSES))
          end
          Chart.stacked(title, columns, statuses)
        end

        # @return [String]
        def title
          "Runs by day and status from #{days.first['date']} to #{days.last['date']}: #{total}, of which " \
            "#{total_of('failed')} failed"
        end

        private

        def total_of(status)
          days.sum { |day| day[status] }
        end
      end
    end
  end
end
