# frozen_string_literal: true

require 'date'
require 'time'

module Simpkv
  module Query
    # Times as clients write them.
    module Timestamp
      # A day of ISO 8601, or the first one of a year, month or week: of the calendar, of a week, or of a year.
      DATE = /(?<year>\d{4})(?:-(?<month>\d\d?)(?:-(?<day>\d\d?))?
                              |(?<month>\d\d)(?<day>\d\d)
                              |-W(?<week>\d\d)(?:-(?<weekday>[1-7]))?|W(?<week>\d\d)(?<weekday>[1-7])
                              |-?(?<yearday>\d{3}))?/x.freeze

      # Later parts may be missing.
      FORMAT = /\A#{DATE}
                (?:[T ](?<hour>\d\d?)(?::?(?<minute>\d\d)(?::?(?<second>\d\d(?:[.,]\d{1,9})?))?)?
                   \s*(?<zone>Z|z|[+-]\d\d(?::?\d\d)?)?)?\z/x.freeze
      private_constant :DATE, :FORMAT

      # Milliseconds of the years from 1 to 9999.
      RANGE = (-62_135_596_800_000..253_402_300_799_999).freeze

      # @param value [Object] ISO 8601, or the milliseconds since 1970
      # @return [String, nil] as the index has it, such as 2026-11-23T01:02:03.000Z; nil if it is no time
      def self.normalize(value)
        time = value.is_a?(Integer) ? of_milliseconds(value) : parse(value.to_s)
        time&.utc&.strftime('%Y-%m-%dT%H:%M:%S.%LZ')
      end

      def self.of_milliseconds(value)
        Time.at(Rational(value, 1000)) if RANGE.cover?(value)
      end
      private_class_method :of_milliseconds

      def self.parse(text)
        match = FORMAT.match(text)
        return unless match

        date = date(match.named_captures.transform_values { |digits| digits&.to_i })
        clock = match.values_at(:hour, :minute, :second).map { |digits| Rational(digits&.tr(',', '.') || 0) }
        Time.new(date.year, date.month, date.day, clock[0].to_i, clock[1].to_i, clock[2], offset(match[:zone]))
      rescue ArgumentError # There is no such day, or time of a day.
        nil
      end
      private_class_method :parse

      # @param parts [Hash{String => Integer, nil}]
      # @return [Date]
      # @raise [ArgumentError]
      def self.date(parts)
        year, week, day = parts.values_at('year', 'week', 'yearday')
        return Date.commercial(year, week, parts['weekday'] || 1) if week
        return Date.ordinal(year, day) if day

        Date.new(year, parts['month'] || 1, parts['day'] || 1)
      end
      private_class_method :date

      def self.offset(zone)
        return '+00:00' if zone.nil? || zone.casecmp?('z')

        "#{zone[0, 3]}:#{zone[/\d\d\z/] if zone.length > 3}".sub(/:\z/, ':00')
      end
      private_class_method :offset
    end
  end
end
