# frozen_string_literal: true

# A contestant for {SideBySide} that is a process of its own: it prints a line `ready` and a line with its answer, and
# then does N operations for each line N that it reads, and prints how many nanoseconds they took by its own clock.
class OtherProcess
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
    @answer ||= (@io.gets&.chomp == 'ready' && @io.gets) || raise(failure)
  end

  # @return [Float] seconds an operation
  def time(count)
    answer
    @io.puts(count)
    Integer(@io.gets || raise(failure)) / 1e9 / count
  end

  def stop
    @io.close
  end

  private

  def failure
    "#{@command.join(' ')}: it ended"
  end
end
