# frozen_string_literal: true

require 'simpkv/status/latest'
require 'simpkv/status/part'

module Simpkv
  module Status
    # The state of a site, read once or from time to time: all parts at the same time, within a time limit. The parts
    # that the site does without are `{'configured' => false}`.
    class State
      # The most keys that have names in it.
      NAMED = 100
      private_constant :NAMED

      # @param site [Site]
      # @param names [Array<String>] of the parts to read
      # @param backends [Array<String>] see {Part#initialize}
      # @param timeout [Numeric] the seconds in which they have to be read
      def initialize(site, names, backends:, timeout:)
        @timeout = timeout
        @latest = Part.readable.slice(*(Part.readable.keys & names)).to_h do |name, type|
          part = type.new(site, backends: backends)
          [name, Latest.new(name, type::PERIOD, nil, patience: timeout) { read(part) }]
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

      def read(part)
        part.class.plain(part.read, NAMED)
      rescue ConfigError
        raise unless part.optional?

        { 'configured' => false }
      end
    end
  end
end
