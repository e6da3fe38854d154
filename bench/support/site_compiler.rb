# frozen_string_literal: true

# A compiler of the benchmark of a site, as a process (see other_process.rb). An operation is all that simpkv does in a
# run of a node; several threads do them at the same time. The arguments are the number of threads, the number of the
# first of its nodes, and the number of its nodes. SIMPKV_CONFIG names the file with the options.
$LOAD_PATH.unshift(*Dir[File.expand_path('../../{lib,gems/*/lib}', __dir__)])
require 'time'
require 'simpkv/estate'
require_relative 'query_data'
require_relative 'site_data'
require_relative 'turns'

# Runs the nodes in turns.
class SiteCompiler < Turns
  def initialize(threads, first, nodes)
    super()
    @threads = threads
    @nodes = Array.new(nodes) { |number| first + number }
    @estate = Simpkv::Estate.load
    @runs = 0
  end

  private

  # Stores the keys of its nodes. The first run of each stores its facts.
  def result
    stored = @estate.store.put_many(SiteData.documents(@nodes))
    stored.each_value { |outcome| raise outcome if outcome.is_a?(Simpkv::Error) }
    turn(@nodes.length)
    'done'
  end

  def turn(count)
    left = Queue.new
    count.times { left << (@runs += 1) }
    left.close
    measured { Array.new(@threads) { Thread.new { run_all(left) } }.each(&:value) }
  end

  def run_all(numbers)
    while (number = numbers.pop)
      run_node(number)
    end
  end

  def run_node(number)
    node = @nodes[number % @nodes.length]
    name = EstateData.name(node)
    Simpkv::Estate::Run.current.forget
    # The facts of every tenth run of a node have changed.
    @estate.facts.save(name, QueryData.facts(node, number / @nodes.length / 10))
    use_keys(node)
    @estate.exports.all(SiteData::COLLECTED, except: name) if (number % SiteData::COLLECTOR).zero?
    @estate.exports.save(name, EstateData.by_name(EstateData.exports(node)), 'production')
    @estate.reports.save(name, report)
  end

  def use_keys(node)
    paths = SiteData.paths(node)
    SiteData::GETS.times { |number| @estate.store.get(paths[number % paths.length]) }
    @estate.store.put(paths.first, SiteData::DOCUMENT)
    @estate.store.list(SiteData.cluster(node))
  end

  def report
    { 'environment' => 'production', 'status' => 'unchanged', 'noop' => false, 'time' => Time.now.utc.iso8601,
      'resources' => { 'changed' => 0, 'failed' => 0, 'failed_to_restart' => 0 } }
  end
end

SiteCompiler.new(*ARGV.map { |argument| Integer(argument) }).run($stdin, $stdout)
