# frozen_string_literal: true

require 'English'
require 'io/wait'

# A contestant for {SideBySide} that is a process of its own. It prints a line `ready` and a line with its result. For
# each line N that it reads, it does N operations, and prints the nanoseconds of time and of processor time that they
# took.
class OtherProcess
  TIMEOUT = 600 # seconds for a line of output
  private_constant :TIMEOUT

  # @return [Float, nil] seconds of processor time of each operation in the last call of {#time}
  attr_reader :processor

  # Starts it.
  #
  # @param command [Array<String>]
  # @param environment [Hash{String => String, nil}]
  def initialize(command, environment = {})
    @command = command
    @io = IO.popen([environment, *command], 'r+')
  end

  # Waits until it is ready.
  #
  # @return [String] the result of the operation
  # @raise [RuntimeError] if the process ended instead
  def answer
    @answer ||= (line.chomp == 'ready' && line) || raise(failure)
  end

  # @return [Float] seconds an operation
  def time(count)
    answer
    @io.puts(count)
    took, @processor = line.split.map { |nanoseconds| Integer(nanoseconds) / 1e9 / count }
    took
  end

  # @return [Integer] the process ID
  def pid
    @io.pid
  end

  # @raise [RuntimeError] if the process failed
  def stop
    @io.close
    raise failure unless $CHILD_STATUS.success?
  end

  private

  def line
    raise "#{@command.join(' ')}: no output for #{TIMEOUT} s" unless @io.wait_readable(TIMEOUT)

    @io.gets || raise(failure)
  end

  def failure
    "#{@command.join(' ')}: the process ended"
  end
end
