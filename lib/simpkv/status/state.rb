# frozen_string_literal: true

require 'simpkv/status/latest'
require 'simpkv/status/parts'

module Simpkv
  module Status
    # The state of a site, read once or from time to time: all parts at the same time, within a time limit.
    class State
      # The most keys that have names in it.
      NAMED = 100
      private_constant :NAMED

      # @param parts [Parts]
      # @param names [Array<String>] of the parts to read: see {Parts::PERIODS}
      # @param timeout [Numeric] the seconds in which they have to be read
      # @param optional [Array<String>] the parts that the site may do without: if the estate has not been made, they
      #   are `{'configured' => false}`
      def initialize(parts, names, timeout:, optional: [])
        @parts = parts
        @timeout = timeout
        @optional = optional
        @latest = names.to_h do |name|
          [name, Latest.new(name, Parts::PERIODS.fetch(name), nil, patience: timeout) { read(name) }]
        end
      end

      # Reads the parts whose period is over.
      #
      # @return [Hash{String => Hash}] by name, each part with the `time` when it was read; or its `error`
      def get
        @latest.each_value(&:renew)
        @latest.transform_values { |latest| part(latest.get) }
      end

      private

      def part(reading)
        return { 'error' => reading.error } if reading.error
        return { 'error' => "it was not read within #{@timeout} s" } unless reading.value

        { 'time' => reading.time.iso8601 }.merge(reading.value)
      end

      def read(name)
        value = @parts.public_send(name)
        name == 'expiring_keys' ? ExpiringKeys.plain(value, NAMED) : value
      rescue Estate::MissingError
        raise unless @optional.include?(name)

        { 'configured' => false }
      end
    end
  end
end
