# frozen_string_literal: true

require 'English'
require 'io/wait'

# A contestant for {SideBySide} that is a process of its own: it prints a line `ready` and a line with its answer, and
# then does N operations for each line N that it reads, and prints how many nanoseconds they took by its own clock, and
# of processors.
class OtherProcess
  # Who says nothing for so many seconds is stuck.
  PATIENCE = 600
  private_constant :PATIENCE

  # @return [Float, nil] what the operations timed last took of a processor, each, in seconds
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
  # @return [String] what the operation comes to
  # @raise [RuntimeError] it ended instead
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

  # @raise [RuntimeError] it did not end well
  def stop
    @io.close
    raise failure unless $CHILD_STATUS.success?
  end

  private

  def line
    raise "#{@command.join(' ')}: it is stuck" unless @io.wait_readable(PATIENCE)

    @io.gets || raise(failure)
  end

  def failure
    "#{@command.join(' ')}: it ended"
  end
end
