# frozen_string_literal: true

require 'time'
require 'simpkv/query/timestamp'

module Simpkv
  module Query
    class Rows
      # Times as PuppetDB answers with them: 2026-11-23T01:02:03.000Z.
      module Times
        # A time as the estate stores it.
        STORED = /\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\z/.freeze
        private_constant :STORED

        class << self
          # @param value [Object] a time of RFC 3339, or another form that Ruby knows
          # @return [String, nil] nil for a value that is no time
          def text(value)
            return unless value.is_a?(String)
            return "#{value[0, 19]}.000Z" if STORED.match?(value)

            of(Time.parse(value))
          rescue ArgumentError
            nil
          end

          # @param time [Time]
          # @return [String, nil] nil for a year of more than four digits, or before the year 1
          def of(time)
            time.getutc.iso8601(3) if Timestamp::RANGE.cover?(time.to_i * 1000)
          end

          # @param value [Object] as for {text}
          # @param seconds [Object] a number; 0 for another value. An agent may have chosen it
          # @return [String, nil] as of {of}
          def later(value, seconds)
            start = text(value)
            start && of(Time.iso8601(start) + (seconds.is_a?(Numeric) ? seconds : 0))
          end
        end
      end
    end
  end
end
