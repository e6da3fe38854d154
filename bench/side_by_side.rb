# frozen_string_literal: true

require 'etc'

# Compares contestants in one run: they take turns in blocks, so that what else the machine does meets all of them
# alike; medians of the blocks are compared. Answers must be equal before anything is timed.
class SideBySide
  BLOCKS = 80
  BLOCK_SECONDS = 0.004 # how long a block should take: long against the clock, short against the machine's moods
  BLOCK_MAX = 500       # operations in a block

  Row = Struct.new(:title, :name, :median, :spread, :ratio, :operations, keyword_init: true)

  # @param title [String] the case
  # @param contestants [Hash{String => Proc}] by name, each doing the operation once; the first one is what the others
  #   are compared with
  # @param equal [Proc] makes answers comparable; false compares none
  # @return [Array<Row>] median seconds of an operation, spread (the middle half of the blocks over the median), ratio
  #   of the first one's median to this one's: above 1 is faster than the first
  # @raise [RuntimeError] when the contestants answer differently
  def self.run(title, contestants, equal: ->(answer) { answer })
    check_equal(title, contestants, equal) if equal
    size = block_size(contestants.values)
    times = contestants.transform_values { [] }
    GC.start
    BLOCKS.times do |turn|
      contestants.to_a.rotate(turn).each { |name, operation| times[name] << time(size, operation) }
    end
    rows(title, times, size)
  end

  def self.check_equal(title, contestants, equal)
    answers = contestants.transform_values { |operation| equal.call(operation.call) }
    odd = answers.keys.reject { |name| answers[name] == answers.values.first }
    raise "#{title}: #{odd.join(', ')} answers something else than #{answers.keys.first}" if odd.any?
  end

  # As many operations as the fastest does in BLOCK_SECONDS; each runs that many before it counts, to warm up.
  def self.block_size(operations)
    fastest = operations.map { |operation| 3.times.map { time(20, operation) }.min }.min
    size = (BLOCK_SECONDS / fastest).ceil.clamp(1, BLOCK_MAX)
    operations.each { |operation| time(size, operation) }
    size
  end

  # Seconds an operation.
  def self.time(count, operation)
    began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    count.times { operation.call }
    (Process.clock_gettime(Process::CLOCK_MONOTONIC) - began) / count
  end

  def self.rows(title, times, size)
    medians = times.transform_values { |blocks| blocks.sort[blocks.length / 2] }
    times.map do |name, blocks|
      sorted = blocks.sort
      spread = (sorted[blocks.length * 3 / 4] - sorted[blocks.length / 4]) / medians[name]
      Row.new(title: title, name: name, median: medians[name], spread: spread,
              ratio: medians.values.first / medians[name], operations: size * BLOCKS)
    end
  end
  private_class_method :check_equal, :block_size, :time, :rows

  # @return [String] a Markdown table
  def self.table(rows)
    lines = ['| case | contestant | median | spread | ratio | operations |', '|---|---|---:|---:|---:|---:|']
    rows.each do |row|
      lines << format('| %<title>s | %<name>s | %<median>.2f us | %<spread>.0f %% | %<ratio>.2f | %<operations>d |',
                      row.to_h.merge(median: row.median * 1e6, spread: row.spread * 100))
    end
    lines.join("\n")
  end

  # @return [String] where and with what a table was made, in Markdown
  def self.circumstances(command, versions)
    <<~TEXT
      - command: `#{command}`
      - versions: #{versions.map { |name, version| "#{name} #{version}" }.join(', ')}
      - machine: #{Etc.uname[:sysname]} #{Etc.uname[:release]} #{Etc.uname[:machine]}, #{Etc.nprocessors} cores
      - blocks: #{BLOCKS} for each contestant, in turn, at most #{BLOCK_MAX} operations each
    TEXT
  end
end
