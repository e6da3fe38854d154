# frozen_string_literal: true

require 'date'
require 'rack'
require 'simpkv/counted'
require 'simpkv/server/console/chart'

module Simpkv
  module Server
    module Console
      # The runs of the last days, as a chart and as a table.
      class RunChart
        # From the bottom of a column to its top: what needs attention has a common line to be compared along.
        STATUSES = %w[failed changed noop unchanged unknown].freeze
        # A report that does not say whether its run was in noop mode counts as that of another run.
        NOT_NOOP = '(noop is null or noop = false)'
        # Of the reports of a status, in PQL.
        CONDITIONS = { 'failed' => 'status = "failed"',
                       'noop' => 'noop = true and (status is null or status != "failed")',
                       'changed' => "status = \"changed\" and #{NOT_NOOP}",
                       'unchanged' => "status = \"unchanged\" and #{NOT_NOOP}",
                       'unknown' => "status is null and #{NOT_NOOP}" }.freeze
        private_constant :STATUSES, :NOT_NOOP, :CONDITIONS

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

        # @return [String, nil] the first day of the chart that has all its runs; nil if all days have
        def first_complete_day
          (Date.iso8601(complete_since[0, 10]) + 1).iso8601 if complete_since
        end

        # @param day [String]
        # @param status [String, nil] one of {#statuses}; nil for all
        # @return [String] the address of the answer with the nodes that had such a run on the day
        def address(day, status = nil)
          following = (Date.iso8601(day) + 1).iso8601
          time = %(producer_timestamp >= "#{day}" and producer_timestamp < "#{following}")
          condition = [time, *CONDITIONS[status]].join(' and ')
          query = "reports[certname, status, end_time] { #{condition} order by certname }"
          "/query?#{Rack::Utils.build_query('query' => query)}"
        end

        # @return [Integer]
        def reports_per_node
          @part['reports_per_node']
        end

        # @return [String] HTML
        def svg
          columns = days.map do |day|
            date = day['date']
            failed = ", #{day['failed']} of them failed" if day['failed'].positive?
            name = "#{date}: #{Counted.of(day.values_at(*STATUSES).sum, 'run')}#{failed}"
            Chart::Column.new(date[-2, 2], name, day.slice(*STATUSES), address(date))
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
