# frozen_string_literal: true

require 'etc'

# Compares contestants in one run: they take turns in blocks, so that what else the machine does meets all of them
# alike; medians of the blocks are compared. Answers must be equal before anything is timed.
#
# A contestant is a Proc, which does the operation once and answers what it came to, or has the methods of {InProcess}.
class SideBySide
  QUICK = !ENV['BENCH_QUICK'].to_s.empty? # whether it is only to be seen that everything works

  BLOCKS = QUICK ? 3 : 80
  BLOCK_SECONDS = 0.004        # how long a block should take: long against the clock, short against the machine's moods
  BLOCK_MAX = QUICK ? 10 : 500 # operations in a block

  Row = Struct.new(:title, :name, :median, :spread, :ratio, :processor, :operations, keyword_init: true)

  # A contestant that is a Proc.
  InProcess = Struct.new(:operation) do
    # @return [nil] it is not known
    def processor; end

    # @return [Object] what the operation comes to
    def answer
      operation.call
    end

    # @return [Float] seconds an operation
    def time(count)
      began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      count.times { operation.call }
      (Process.clock_gettime(Process::CLOCK_MONOTONIC) - began) / count
    end
  end

  # @param title [String] the case
  # @param contestants [Hash{String => Object}] by name; the first one is what the others are compared with
  # @param equal [Proc] makes answers comparable
  # @param seconds [Numeric, nil] how long a block should take; nil for one operation a block
  # @param blocks [Integer] how many blocks each does
  # @param warm [Numeric] how many seconds they take turns before it counts, all together
  # @return [Array<Row>] median seconds of an operation, spread (the middle half of the blocks over the median), ratio
  #   of the first one's median to this one's: above 1 is faster than the first; and median seconds of its process's
  #   processor time, where that is known
  # @raise [RuntimeError] when the contestants answer differently
  def self.run(title, contestants, equal: ->(answer) { answer }, seconds: BLOCK_SECONDS, blocks: BLOCKS, warm: 0)
    contestants = contestants.transform_values { |each| each.is_a?(Proc) ? InProcess.new(each) : each }
    check_equal(title, contestants, equal)
    sizes = block_sizes(contestants, seconds, warm)
    costs = measure(contestants, sizes, blocks)
    first = median(costs.values.first.map(&:first))
    costs.map { |name, each| row(title, name, each, first: first, size: sizes[name]) }
  end

  def self.check_equal(title, contestants, equal)
    answers = contestants.transform_values { |contestant| equal.call(contestant.answer) }
    odd = answers.keys.reject { |name| answers[name] == answers.values.first }
    raise "#{title}: #{odd.join(', ')} answers something else than #{answers.keys.first}" if odd.any?
  end

  # They take turns until they are warm; what they can do then counts.
  def self.block_sizes(contestants, seconds, warm)
    return contestants.transform_values { 1 } unless seconds

    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + (QUICK ? 0 : warm)
    loop do
      sizes = contestants.transform_values { |contestant| block_size(contestant, seconds) }
      return sizes if Process.clock_gettime(Process::CLOCK_MONOTONIC) >= deadline
    end
  end

  # As many operations as it does in that time; it runs that many.
  def self.block_size(contestant, seconds)
    return 1 if contestant.time(1) > seconds

    size = (seconds / Array.new(3) { contestant.time([20, BLOCK_MAX].min) }.min).ceil.clamp(1, BLOCK_MAX)
    contestant.time(size)
    size
  end

  # @return [Hash{String => Array<Array(Float, Float)>}] time of each block, and of processors or nil
  def self.measure(contestants, sizes, blocks)
    GC.start
    costs = contestants.transform_values { [] }
    blocks.times do |turn|
      # Each comes after each of the others.
      contestants.to_a.shuffle(random: Random.new(turn)).each do |name, contestant|
        costs[name] << [contestant.time(sizes[name]), contestant.processor]
      end
    end
    costs
  end

  def self.median(times)
    times.sort[times.length / 2]
  end

  def self.row(title, name, costs, first:, size:)
    sorted = costs.map(&:first).sort
    middle_half = sorted[costs.length * 3 / 4] - sorted[costs.length / 4]
    processor = median(costs.map(&:last)) if costs.all?(&:last)
    Row.new(title: title, name: name, median: median(sorted), spread: middle_half / median(sorted),
            ratio: first / median(sorted), processor: processor, operations: size * costs.length)
  end
  private_class_method :check_equal, :block_sizes, :block_size, :measure, :median, :row
end
