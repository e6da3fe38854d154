# frozen_string_literal: true

require 'tempfile'

# What was broken on purpose, and what came of it: a row of the table that bin/test prints in the end. Threads share it.
class Tally
  ALL = [] # rubocop:disable Style/MutableConstant -- that is what it is for

  # By how many seconds a call may miss its deadline, beside what the machine is late.
  LATE = 0.5

  # @return [Array<String>] what should not have happened
  attr_reader :anomalies

  # @param name [String] its row
  def initialize(name)
    @name = name
    @faults = @operations = 0
    @anomalies = []
    @lock = Mutex.new
    ALL << self
  end

  # @param faults [Integer] so many more were injected
  # @param operations [Integer] so many more were done
  # @param late [Numeric, nil] seconds from the deadline of one of these to its end, negative where it ended before
  # @param anomalies [Array<String>] what went wrong
  def add(faults: 0, operations: 0, late: nil, anomalies: [])
    @lock.synchronize do
      @faults += faults
      @operations += operations
      @late = [@late, late].compact.max
      @anomalies.concat(anomalies)
    end
  end

  # Adds a deed, and the call after it.
  #
  # @param outcome [Deeds::Outcome]
  # @param how [String, nil] it was broken
  # @param more [Hash] as for {#add}
  def add_outcome(outcome, how = nil, **more)
    odd = outcome.odd
    odd += ["it ended #{outcome.late.round(2)} s after its deadline"] if outcome.late > LATE + Sleeper.latest
    anomalies = odd.map { |each| "#{[outcome.deed.name, how].compact.join(', ')}: #{each}" }
    add(operations: 2, late: outcome.late, anomalies: anomalies, **more)
  end

  # @return [Boolean] whether it knows how late its operations ended
  def timed?
    !@late.nil?
  end

  # @return [String] its row: name, faults, operations, anomalies, and how late the latest of the operations ended
  def row
    late = format('%.2f', [@late, 0].max) if timed?
    [@name, @faults, @operations, @anomalies.length, late || '-'].join("\t")
  end
end

# A process that only sleeps: how late this machine wakes it. An operation that was late by no more may have slept, too.
class Sleeper
  # Writes down when it was later than ever, over what is there: a reader finds one of both. Ends with its parent.
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

    # @return [Float] seconds
    def latest
      File.read(@file.path).to_f
    end

    # Ends it.
    #
    # @return [String] its row of the table
    def stop
      Process.kill(:KILL, @pid)
      Process.wait(@pid)
      ['(a process that only sleeps, meanwhile)', '-', '-', '-', format('%.2f', latest)].join("\t")
    end
  end
end

RSpec.configure do |config|
  # JRuby is not to be started for this; nothing is timed on it.
  config.before(:suite) { Sleeper.start if RUBY_ENGINE == 'ruby' }
  config.after(:suite) do
    asleep = Sleeper.stop if RUBY_ENGINE == 'ruby'
    rows = [*Tally::ALL.map(&:row), *(asleep if Tally::ALL.any?(&:timed?))].map { |row| "#{row}\n" }.join
    ENV['SIMPKV_TALLY'] ? File.write(ENV['SIMPKV_TALLY'], rows, mode: 'a') : puts('', rows)
  end
end
