# frozen_string_literal: true

require 'time'
require 'simpkv/query/to_char/numbers'
require 'simpkv/query/to_char/times'

module Simpkv
  module Query
    # PostgreSQL's to_char, for times in UTC and for numbers.
    #
    #   ToChar.format('2026-11-21T12:00:00.000Z', 'FMDay')   # Saturday
    #   ToChar.format(5000, '99,999')                        # "  5,000"
    module ToChar
      # A mask may have so many characters.
      LENGTH = 256

      # @param mask [Object]
      # @param time [Boolean] whether it is for times
      # @return [String] the same
      # @raise [InvalidError] it is not a mask
      def self.check(mask, time)
        unless mask.is_a?(String) && mask.length <= LENGTH
          raise InvalidError, "A format is a string of at most #{LENGTH} characters"
        end

        time ? mask : Numbers.check(mask)
      end

      # @param value [String, Numeric] a time of the index, or a number
      # @param mask [String]
      # @return [String]
      def self.format(value, mask)
        value.is_a?(Numeric) ? Numbers.format(value, mask) : Times.format(Time.iso8601(value).utc, mask)
      end
    end
  end
end
