# frozen_string_literal: true

# What was broken on purpose, and what came of it; printed as a table when all specs have run.
class Tally
  ALL = [] # rubocop:disable Style/MutableConstant -- that is what it is for

  # @return [Array<String>] what should not have happened
  attr_reader :anomalies

  # @param name [String] its row
  def initialize(name)
    @name = name
    @faults = @operations = 0
    @anomalies = []
    ALL << self
  end

  # @param faults [Integer] so many more were injected
  # @param operations [Integer] so many more were done
  # @param anomalies [Array<String>] what went wrong
  def add(faults: 0, operations: 0, anomalies: [])
    @faults += faults
    @operations += operations
    @anomalies.concat(anomalies)
  end

  # @return [Array<String>] its row
  def cells
    [@name, *[@faults, @operations, @anomalies.length].map(&:to_s)]
  end

  # @return [Array<String>] the lines of the table
  def self.table
    rows = [%w[what faults operations anomalies], *ALL.map(&:cells)]
    widths = rows.transpose.map { |cells| cells.map(&:length).max }
    rows.insert(1, widths.map { |width| '-' * width })
    rows.map { |row| "| #{row.zip(widths).map { |cell, width| cell.ljust(width) }.join(' | ')} |" }
  end
end

RSpec.configure do |config|
  config.after(:suite) { puts '', *Tally.table if Tally::ALL.any? }
end
