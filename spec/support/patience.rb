# frozen_string_literal: true

# For what servers do in their own time.
module Patience
  # Calls the block until it answers something true, and answers that; errors of a store count as not yet.
  #
  # @param within [Numeric] after so many seconds, what the last call came to is the example's failure
  def eventually(within: 30)
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + within
    begin
      (answer = yield) || raise(Simpkv::Error, 'what was waited for has not come')
      answer
    rescue Simpkv::Error
      raise if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline

      sleep 0.05
      retry
    end
  end
end
