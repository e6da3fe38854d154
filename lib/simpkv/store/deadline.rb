# frozen_string_literal: true

module Simpkv
  # One call of a function may make several calls of a directory: it looks for the base entry, reads, writes, and reads
  # again after a lost response. These operations share one `operation_timeout_seconds`.
  module Deadline
    BEGAN = :simpkv_deadline_began
    private_constant :BEGAN

    class << self
      # Runs a block whose operations on directories share the time from now on. A nested block shares the time of the
      # outer one.
      #
      # @return [Object] what the block returns
      def shared
        thread = Thread.current
        return yield if thread[BEGAN]

        begin
          thread[BEGAN] = now
          yield
        ensure
          thread[BEGAN] = nil
        end
      end

      # @param timeout_ms [Integer] the time of an operation by itself
      # @return [Integer] the time that is left for it
      # @raise [TimeoutError] the operations before it took all the time
      def left(timeout_ms)
        began = Thread.current[BEGAN]
        return timeout_ms unless began

        left = timeout_ms - (now - began)
        return left if left.positive?

        raise TimeoutError, "no time is left of 'operation_timeout_seconds': the steps before took all of it"
      end

      private

      def now
        Process.clock_gettime(Process::CLOCK_MONOTONIC, :millisecond)
      end
    end
  end
end
