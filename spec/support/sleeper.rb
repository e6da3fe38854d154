# frozen_string_literal: true

require 'tempfile'

# A process that only sleeps, and measures by how much the machine wakes it late. An operation that is late by no more
# than that may be late for the same reason.
class Sleeper
  # Seconds. A longer delay is a stall of the machine, and not only a busy processor.
  STALL = 0.25

  # Writes the longest delay and the sum of all stalls over the old ones: a reader sees the old or the new numbers. Ends
  # with its parent.
  PROGRAM = <<~RUBY
    longest = stalled = 0
    parent = Process.ppid
    while Process.ppid == parent
      began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      sleep 0.02
      late = Process.clock_gettime(Process::CLOCK_MONOTONIC) - began - 0.02
      stalled += late if late > #{STALL}
      next unless late > [longest, #{STALL}].min

      longest = late if late > longest
      File.write(ARGV.first, format('%010.4f %010.4f', longest, stalled), 0)
    end
  RUBY
  private_constant :STALL, :PROGRAM

  class << self
    def start
      @file = Tempfile.new('sleeper')
      @pid = Process.spawn(RbConfig.ruby, '--disable=gems', '-e', PROGRAM, @file.path)
    end

    def stop
      Process.kill(:KILL, @pid)
      Process.wait(@pid)
    end

    # @return [Float] the longest delay so far, in seconds
    def latest
      File.read(@file.path).to_f
    end

    # Runs the block, and again if it raises one of the errors while the machine stalls.
    #
    # @param errors [Array<Class>] those that a stall may cause
    def repeat_if_stalled(*errors)
      before = stalled
      yield
    rescue *errors
      sleep 0.1 # The process measures a stall when it is over.
      stalled > before ? retry : raise
    end

    # @return [String] its row of the table that {Tally} prints
    def row
      format('(a process that only sleeps: late by %.2f s)', latest)
    end

    private

    # @return [Float] the sum of all stalls so far, in seconds
    def stalled
      File.read(@file.path).split.last.to_f
    end
  end
end

# JRuby would take too long to start, and no example measures deadlines on it.
if RUBY_ENGINE == 'ruby'
  RSpec.configure do |config|
    config.before(:suite) { Sleeper.start }
    config.after(:suite) { Sleeper.stop }
  end
end
