# frozen_string_literal: true

require 'fileutils'

# A server that runs as a child process, with all its files in `@folder`. A class that includes this module defines
# START_SECONDS, the time within which the server must answer, and `tail`.
module ServerProcess
  # The methods of the class.
  module Running
    # Starts a server, yields it, stops it. When the block raises, prints the end of its log.
    def run(*arguments, **options)
      server = new(*arguments, **options)
      server.start
      yield server
    rescue Exception # rubocop:disable Lint/RescueException -- prints the log for any exception, and re-raises
      warn server.tail if server
      raise
    ensure
      server&.stop
    end
  end

  def self.included(server)
    server.extend(Running)
  end

  # @return [String] the folder of all files of the server
  attr_reader :folder

  # @return [Integer, nil] the process ID; nil while the server is down
  attr_reader :pid

  # Kills the server and deletes its files, because its data are not needed any more.
  def stop
    finish(:KILL)
    FileUtils.rm_rf(@folder)
  end

  private

  # Starts the process, and waits until the server answers.
  #
  # @param command [Array] as for Process.spawn
  # @param output [String] the file that receives the output
  # @yieldreturn [Boolean] whether the server answers
  # @raise [RuntimeError] it ended, or does not answer in time; the message has the end of its log
  def run_process(*command, output:, **options, &answers)
    @pid = Process.spawn(*command, %i[out err] => [output, 'a'], **options)
    wait_until(&answers)
  end

  # Waits until the process answers, as {#run_process} does.
  def wait_until
    late = monotonic + self.class::START_SECONDS
    until yield
      raise [*tail, "#{self.class} ended while it started"].join("\n") if ended?
      raise [*tail, *stacks, "#{self.class} does not start"].join("\n") if monotonic > late

      sleep 0.02
    end
  end

  # @return [Boolean] whether the process has ended
  def ended?
    @pid = nil if Process.wait(@pid, Process::WNOHANG)
    @pid.nil?
  end

  # Sends a signal that ends the process, and waits for its end.
  def finish(signal)
    return unless @pid

    Process.kill(signal, @pid)
    # Ruby 3.1 sometimes misses the end of a child process if it waits for it while other threads run.
    sleep 0.002 until ended?
  end

  # @return [Array<String>] the last lines of a log
  def end_of(log, number)
    ["The end of the log '#{File.basename(log)}' of #{self.class}:",
     *(File.readlines(log).last(number) if File.exist?(log))]
  end

  # @return [Array<String>] the stacks of a process that does not start, if it can print them
  def stacks
    []
  end

  def monotonic
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end
