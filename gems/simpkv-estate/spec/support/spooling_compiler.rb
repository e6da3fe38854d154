# frozen_string_literal: true

require 'simpkv/estate'
require_relative '../../../../spec/support/processes'

# A compiler that stores what runs report, or leaves it in its spool, in a process that can be killed. The runs have
# numbers, and each node has several. Each run collects what all nodes export.
class SpoolingCompiler
  include Processes

  NODES = 5
  # The number of the first run of another node.
  EXTRA = 1000
  private_constant :NODES, :EXTRA

  # @param backend [Hash] its options
  # @param spool [String]
  def initialize(backend, spool)
    @site = { 'backends' => { 'default' => backend }, 'estate' => { 'spool' => spool, 'reports' => 1000 } }
    @acknowledged = []
  end

  # Carries out runs.
  #
  # @param numbers [Range<Integer>]
  # @param pause [Numeric] the seconds between two runs
  # @return [void]
  def run(numbers, pause = 0)
    start(numbers, pause) { |pid| raise 'the compiler has failed' unless status_of(pid).success? }
  end

  # Carries out runs, and kills the process during the next ones, which are of another node.
  #
  # @param numbers [Range<Integer>]
  # @param pause [Numeric] the seconds between two runs
  # @return [void]
  def run_and_kill(numbers, pause = 0)
    start([*numbers, *Array.new(1000) { |number| (numbers.max * EXTRA) + number }], pause, numbers.size) do |pid|
      Process.kill(:KILL, pid)
      status_of(pid)
    end
  end

  # Delivers what waits in the spool.
  #
  # @return [Boolean] whether nothing is left
  def deliver
    spool = Simpkv::Estate.new(@site).spool
    spool.deliver(wait: true).errors.empty? && spool.waiting.empty?
  end

  # @param store [Simpkv::Store] of one server
  # @return [Array<Object>] what was acknowledged and is not stored, or is older
  def missing(store)
    estate = Simpkv::Estate.new(@site) { store }
    latest = @acknowledged.group_by { |number| node(number) }.transform_values(&:max)
    older = latest.select { |name, number| stored(estate, name).any? { |each| each < number } }
    older.keys + (@acknowledged - reported(estate, latest.keys))
  end

  private

  # @return [Array<Integer>] the runs of facts and exports
  def stored(estate, name)
    [estate.facts.find(name)['values']['run'], estate.exports.of(name)['user'].first['title'].to_i]
  end

  def reported(estate, names)
    names.flat_map { |name| estate.reports.all(name).map { |report| report['number'] } }
  end

  def node(number)
    number < EXTRA ? "node#{number % NODES}" : 'extra'
  end

  # @param number [Integer] of runs that are waited for
  def start(numbers, pause, number = numbers.size)
    reader, writer = IO.pipe
    pid = child { run_each(numbers, pause, writer) }
    writer.close
    number.times { acknowledge(reader) }
    yield pid
    acknowledge(reader) until reader.eof?
  ensure
    reader&.close
  end

  def acknowledge(reader)
    line = reader.gets or raise 'the compiler has failed'
    @acknowledged << Integer(line)
  end

  def run_each(numbers, pause, writer)
    estate = Simpkv::Estate.new(@site)
    numbers.each do |number|
      writes(number).each { |write| estate.spool.save(write) }
      raise 'not all is collected' unless estate.exports.all('user').length >= [NODES, number].min

      writer.syswrite("#{number}\n")
      sleep(pause)
    end
    true
  end

  def writes(number)
    exports = { 'resources' => { 'user' => [{ 'title' => number.to_s }] }, 'environment' => 'production' }
    report = { 'status' => 'changed', 'number' => number, 'time' => Time.now.utc.iso8601 }
    data = { Facts: { 'values' => { 'run' => number } }, Exports: exports, Report: { 'summary' => report } }
    data.map { |kind, each| Simpkv::Estate::RunWrite.const_get(kind).new(node(number), each) }
  end
end
