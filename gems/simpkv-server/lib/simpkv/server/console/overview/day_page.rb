# frozen_string_literal: true

require 'simpkv/server/console/chart'
require 'simpkv/server/console/section'

module Simpkv
  module Server
    module Console
      class Overview < Section
        # What the service has measured of the servers and of its index within the last day.
        class DayPage < Page
          # Servers with charts.
          SERVERS = 10
          # Samples of a row of the table.
          HOUR = 4
          MEASURED = [%w[Latency ms latency_ms], ['Replication behind', 's', 'lag_seconds']].freeze
          private_constant :SERVERS, :HOUR, :MEASURED

          # Values of a day, of which a chart and a table are made. `failed`: whether there was no answer.
          Series = Struct.new(:title, :unit, :samples, :failed) do
            # @return [Numeric, nil]
            def highest
              samples.compact.max
            end
          end

          # @return [String] HTML
          def show
            found = subject { api.get('/v1/status/history') }
            return page('The last day', 'overview/missing', missing: found) if missing?(found)

            @found = found
            servers = found['servers'].first(SERVERS).to_h { |server| [server['uri'], series(server['samples'])] }
            page('The last day', 'overview/day', servers: servers, more: found['servers'].length - servers.length,
                                                 index: Series.new('Age of the index', 's', found['index'], []))
          end

          private

          def series(samples)
            MEASURED.map do |title, unit, name|
              failed = name == 'latency_ms' ? samples.map { |sample| sample && sample['down'] } : []
              Series.new(title, unit, samples.map { |sample| sample && sample[name] }, failed)
            end
          end

          # @return [Array<Array(String, String)>] the begin of each hour that was measured, and the highest value
          def hours(series)
            step = HOUR * @found['seconds']
            slices = series.samples.zip(series.failed).each_slice(HOUR).map { |slice| text(series, slice) }
            times = slices.each_index.map { |at| (Time.iso8601(@found['begin']) + (at * step)).iso8601 }
            times.zip(slices).select(&:last)
          end

          def text(series, slice)
            value = slice.map(&:first).compact.max
            words = [(number(value, series.unit) if value), ('did not answer' if slice.any?(&:last))].compact
            words.join(', ') unless words.empty?
          end

          # @return [String] HTML
          def chart(series, what)
            most = ", at most #{number(series.highest, series.unit)}" if series.highest
            Chart.over_time("#{series.title} of #{what} within a day#{most}", series.samples, series.failed)
          end

          def number(value, unit)
            "#{value.round(unit == 's' ? 1 : 2)} #{unit}"
          end
        end
      end
    end
  end
end
