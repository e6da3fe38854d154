# frozen_string_literal: true

require 'tempfile'

# Counts the faults that an example injects, the operations meanwhile, and the anomalies: a line
# that the run prints at its end. Threads share it.
class Tally
  ALL = [] # rubocop:disable Style/MutableConstant -- examples add to it

  # The seconds by which a call may miss its deadline, beyond the delay of a process that only sleeps.
  LATE = 0.5

  # @return [Array<String>] the violated expectations
  attr_reader :anomalies

  # @param name [String] the title of its row
  def initialize(name)
    @name = name
    @faults = @operations = 0
    @anomalies = []
    @lock = Mutex.new
    ALL << self
  end

  # @param faults [Integer] the faults that were injected
  # @param operations [Integer] the operations that were run
  # @param late [Numeric, nil] seconds from the deadline of one of these to its end; negative if it ended before
  # @param anomalies [Array<String>] the violated expectations
  def add(faults: 0, operations: 0, late: nil, anomalies: [])
    @lock.synchronize do
      @faults += faults
      @operations += operations
      @late = [@late, late].compact.max
      @anomalies.concat(anomalies)
    end
  end

  # Adds an operation, and the call after it.
  #
  # @param outcome [StoreOperations::Outcome]
  # @param fault [String, nil] the fault that was injected
  # @param more [Hash] as for {#add}
  def add_outcome(outcome, fault = nil, **more)
    violations = outcome.violations
    late = "it ended #{outcome.late.round(2)} s after its deadline"
    violations += [late] if outcome.late > LATE + Sleeper.latest
    anomalies = violations.map { |each| "#{[outcome.operation.name, fault].compact.join(', ')}: #{each}" }
    add(operations: 2, late: outcome.late, anomalies: anomalies, **more)
  end

  # @return [Boolean] true if its operations had deadlines
  def timed?
    !@late.nil?
  end

  # @return [String] the line, in the form that the C tests print
  def row
    line = "#{@name}: #{@faults} faults, #{@operations} operations, #{@anomalies.length} anomalies"
    timed? ? format('%<line>s, late by %<late>.2f s', line: line, late: [@late, 0].max) : line
  end
end

# A process that only sleeps, and measures by how much the machine wakes it late. An operation that is late by no more
# than that may be late for the same reason.
class Sleeper
  # Writes each new maximum over the old one: a reader sees the old or the new one. Ends with its parent.
  PROGRAM = <<~RUBY
    latest = 0
    parent = Process.ppid
    while Process.ppid == parent
      began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      sleep 0.02
      late = Process.clock_gettime(Process::CLOCK_MONOTONIC) - began - 0.02
      File.write(ARGV.first, format('%010.4f', latest = late), 0) if late > latest
    end
  RUBY

  class << self
    def start
      @file = Tempfile.new('sleeper')
      @pid = Process.spawn(RbConfig.ruby, '--disable=gems', '-e', PROGRAM, @file.path)
    end

    # @return [Float] the longest delay so far, in seconds
    def latest
      File.read(@file.path).to_f
    end

    # Ends the process.
    #
    # @return [String] its row of the table
    def stop
      Process.kill(:KILL, @pid)
      Process.wait(@pid)
      format('(a process that only sleeps: late by %.2f s)', latest)
    end
  end
end

RSpec.configure do |config|
  # JRuby would take too long to start, and no example measures deadlines on it.
  config.before(:suite) { Sleeper.start if RUBY_ENGINE == 'ruby' }
  config.after(:suite) do
    asleep = Sleeper.stop if RUBY_ENGINE == 'ruby'
    puts '', Tally::ALL.map(&:row), *(asleep if Tally::ALL.any?(&:timed?))
  end
end
