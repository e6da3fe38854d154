# frozen_string_literal: true

module Simpkv
  # A clock that only goes forward, to measure times.
  module Clock
    # @return [Float] seconds since some moment
    def self.now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
