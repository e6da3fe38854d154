# frozen_string_literal: true

require 'etc'

# Compares contestants in one run. They take turns in blocks, so that other load of the machine affects all of them
# equally, and their medians are compared. Their results must be equal before anything is timed.
#
# A contestant is a Proc, which does the operation once and returns its result, or has the methods of {InProcess}.
class SideBySide
  QUICK = !ENV['BENCH_QUICK'].to_s.empty? # true: check that everything works; the times mean nothing

  BLOCKS = QUICK ? 3 : 80
  BLOCK_SECONDS = 0.004        # of a block: long for the clock, short beside changes of the machine's load
  BLOCK_MAX = QUICK ? 10 : 500 # operations in a block

  Row = Struct.new(:title, :name, :median, :best, :spread, :ratio, :processor, :operations, keyword_init: true)

  # A contestant that is a Proc.
  InProcess = Struct.new(:operation) do
    # @return [nil] unknown
    def processor; end

    # @return [Object] the result of the operation
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
  # @param contestants [Hash{String => Object}] by name; the others are compared with the first one
  # @param equal [Proc] converts results for their comparison
  # @param seconds [Numeric, nil] of a block; nil for one operation a block
  # @param blocks [Integer] of each contestant
  # @param warm [Numeric] seconds of turns before the measurement, for all together
  # @return [Array<Row>] median seconds of an operation; best: those of the fastest block; spread (the middle half of
  #   the blocks over the median); ratio of the first one's median to this one's (above 1: faster than the first);
  #   median seconds of processor time, if known
  # @raise [RuntimeError] if the contestants' results differ
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
    different = answers.keys.reject { |name| answers[name] == answers.values.first }
    raise "#{title}: the result of #{different.join(', ')} is not that of #{answers.keys.first}" if different.any?
  end

  # Lets them take turns until they are warm, and then measures the sizes of blocks.
  def self.block_sizes(contestants, seconds, warm)
    return contestants.transform_values { 1 } unless seconds

    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + (QUICK ? 0 : warm)
    loop do
      sizes = contestants.transform_values { |contestant| block_size(contestant, seconds) }
      return sizes if Process.clock_gettime(Process::CLOCK_MONOTONIC) >= deadline
    end
  end

  # Runs as many operations as fit into that time, and returns their number.
  def self.block_size(contestant, seconds)
    return 1 if contestant.time(1) > seconds

    size = (seconds / Array.new(3) { contestant.time([20, BLOCK_MAX].min) }.min).ceil.clamp(1, BLOCK_MAX)
    contestant.time(size)
    size
  end

  # @return [Hash{String => Array<Array(Float, Float)>}] time and processor time, or nil, of each block
  def self.measure(contestants, sizes, blocks)
    GC.start
    costs = contestants.transform_values { [] }
    blocks.times do |turn|
      # In random order, so that each follows each of the others.
      contestants.to_a.shuffle(random: Random.new(turn)).each do |name, contestant|
        costs[name] << [contestant.time(sizes[name]), contestant.processor]
      end
    end
    costs
  end

  # @param times [Array<Numeric>]
  # @return [Numeric]
  def self.median(times)
    times.sort[times.length / 2]
  end

  def self.row(title, name, costs, first:, size:)
    sorted = costs.map(&:first).sort
    middle_half = sorted[costs.length * 3 / 4] - sorted[costs.length / 4]
    processor = median(costs.map(&:last)) if costs.all?(&:last)
    Row.new(title: title, name: name, median: median(sorted), best: sorted.first, ratio: first / median(sorted),
            spread: middle_half / median(sorted), processor: processor, operations: size * costs.length)
  end
  private_class_method :check_equal, :block_sizes, :block_size, :measure, :row
end
