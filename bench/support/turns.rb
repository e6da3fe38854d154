# frozen_string_literal: true

# A contestant as a process (see other_process.rb). A subclass defines `result`, which does the operation once and
# returns the result as text, and `turn`, which does a number of operations and returns what {#measured} returned. JRuby
# runs it, too: Ruby 2.6.
class Turns
  def run(input, output)
    output.puts('ready', result)
    output.flush
    while (line = input.gets)
      output.puts(turn(Integer(line)).join(' '))
      output.flush
    end
  end

  private

  # @return [Array(Integer, Integer)] nanoseconds of time and of processor time of the block
  def measured
    began = now
    yield
    now.zip(began).map { |after, before| after - before }
  end

  def now
    [Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond), processor_time]
  end

  if Process.const_defined?(:CLOCK_PROCESS_CPUTIME_ID)
    def processor_time
      Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :nanosecond)
    end
  else
    # JRuby's own clock of processor time ticks only a hundred times a second.
    require 'ffi'
    extend FFI::Library

    ffi_lib FFI::Library::LIBC
    attach_function :clock_gettime, %i[int pointer], :int
    PROCESS_CLOCK = 2 # Linux
    private_constant :PROCESS_CLOCK

    def processor_time
      FFI::MemoryPointer.new(:int64, 2) do |time|
        Turns.clock_gettime(PROCESS_CLOCK, time)
        seconds, nanoseconds = time.read_array_of_int64(2)
        return (seconds * 1_000_000_000) + nanoseconds
      end
    end
  end
end
