# frozen_string_literal: true

# For conditions that a server meets after some time.
module Eventually
  # The shortest and the longest pause between two attempts, in seconds: many attempts run a program.
  PAUSES = [0.02, 0.1].freeze
  private_constant :PAUSES

  # Calls the block until it returns a true value, and returns that value.
  #
  # @param within [Numeric] seconds; after them the example fails with the last error
  # @param errors [Class] errors that count as a false value
  def eventually(within: 30, errors: Simpkv::Error)
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + within
    pause, longest = PAUSES
    begin
      yield || raise(errors, "the condition was not met within #{within} s")
    rescue errors
      raise if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline

      sleep pause
      pause = [pause * 1.5, longest].min
      retry
    end
  end
end
