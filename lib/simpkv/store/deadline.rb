# frozen_string_literal: true

module Simpkv
  # One call of a function may make several calls of a directory: it looks for the base entry, reads, writes, and reads
  # again after a lost response. These share one `operation_timeout_seconds`, from the beginning of the first: see
  # {Store#get}.
  class Deadline
    # @param most_ms [Integer, nil] the time of all operations; nil for that of one operation
    def initialize(most_ms = nil)
      @most_ms = most_ms
      @began = now
    end

    # @param timeout_ms [Integer] the time of an operation by itself
    # @return [Integer] the time that is left for it
    # @raise [TimeoutError] the operations before it took all the time
    def left(timeout_ms)
      left = [timeout_ms, @most_ms].compact.min - (now - @began)
      return left if left.positive?

      raise TimeoutError, "no time is left of 'operation_timeout_seconds': the steps before took all of it"
    end

    private

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC, :millisecond)
    end
  end
end
