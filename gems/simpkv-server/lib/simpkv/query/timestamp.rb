# frozen_string_literal: true

require 'date'
require 'time'

module Simpkv
  module Query
    # Times as clients write them.
    module Timestamp
      # Parts of ISO 8601 of which the later ones may be missing.
      FORMAT = /\A(\d{4})(?:-(\d\d?)(?:-(\d\d?))?)?
                (?:[T ](\d\d?)(?::?(\d\d)(?::?(\d\d(?:[.,]\d{1,9})?))?)?\s*(Z|z|[+-]\d\d(?::?\d\d)?)?)?\z/x.freeze

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

        date = match.values_at(1, 2, 3).map { |digits| digits ? Integer(digits, 10) : 1 }
        clock = match.values_at(4, 5, 6).map { |digits| Rational(digits.to_s.tr(',', '.').sub(/\A\z/, '0')) }
        Time.new(*date, clock[0].to_i, clock[1].to_i, clock[2], offset(match[7])) if Date.valid_date?(*date)
      rescue ArgumentError
        nil
      end
      private_class_method :parse

      def self.offset(zone)
        return '+00:00' if zone.nil? || zone.casecmp?('z')

        "#{zone[0, 3]}:#{zone[/\d\d\z/] if zone.length > 3}".sub(/:\z/, ':00')
      end
      private_class_method :offset
    end
  end
end
