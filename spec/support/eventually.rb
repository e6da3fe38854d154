# frozen_string_literal: true

# For conditions that a server meets after some time.
module Eventually
  # Calls the block until it returns a true value, and returns that value.
  #
  # @param within [Numeric] seconds; after them the example fails with the last error
  # @param errors [Class] errors that count as a false value
  def eventually(within: 30, errors: Simpkv::Error)
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + within
    begin
      yield || raise(errors, "the condition was not met within #{within} s")
    rescue errors
      raise if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline

      sleep 0.02
      retry
    end
  end
end
