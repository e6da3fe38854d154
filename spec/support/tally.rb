# frozen_string_literal: true

require_relative 'sleeper'

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

RSpec.configure do |config|
  config.after(:suite) do
    timed = Tally::ALL.any?(&:timed?) && RUBY_ENGINE == 'ruby'
    puts '', Tally::ALL.map(&:row), *(Sleeper.row if timed)
  end
end
