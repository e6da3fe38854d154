# frozen_string_literal: true

require 'time'

module Simpkv
  class Estate
    # The members of a report, of facts and of a catalog that name their sender: `producer` is the certname of the
    # server that sent them, and `producer_timestamp` the time by its clock, of RFC 3339 in UTC.
    module Produced
      PRODUCER = 'producer'
      TIME = 'producer_timestamp'
      MEMBERS = [PRODUCER, TIME].freeze
      # The most digits of a second that a time keeps.
      DIGITS_MAX = 9
      FORM = /\A(\d{4})-(\d\d)-(\d\d)T(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?Z\z/.freeze
      private_constant :DIGITS_MAX, :FORM

      class << self
        # @param producer [String, nil] the certname; nil if it is unknown
        # @param time [String] see {text}
        # @return [Hash{String => String}] the members
        def members(producer, time = Time.now.utc.iso8601(3))
          { PRODUCER => producer, TIME => time }.compact
        end

        # @param time [Time]
        # @param source [String] the text that the time was read from
        # @return [String] the time in UTC, with the digits of that text
        def text(time, source)
          time.getutc.iso8601(source[/\.(\d+)/, 1].to_s.length.clamp(0, DIGITS_MAX))
        end

        # @param time [String, nil] a time of RFC 3339 in UTC
        # @return [String] the order of times is that of these texts; nil comes first
        def order(time)
          seconds, fraction = time.to_s.delete_suffix('Z').split('.')
          "#{seconds}.#{fraction.to_s.ljust(DIGITS_MAX, '0')}"
        end

        # @param value [Object]
        # @return [Boolean] whether it is a time of RFC 3339 in UTC
        def time?(value)
          date = value.match(FORM) if value.is_a?(String)
          !date.nil? && Date.valid_civil?(*date.captures.map(&:to_i))
        end

        # @param record [Hash] a document that may have the members
        # @return [Boolean] whether they have their form
        def valid?(record)
          producer, time = record.values_at(*MEMBERS)
          (producer.nil? || producer.is_a?(String)) && (time.nil? || time?(time))
        end
      end
    end
  end
end
