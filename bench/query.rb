# frozen_string_literal: true

require 'json'
require 'net/http'
require 'tmpdir'
require_relative '../gems/simpkv-server/spec/support/puppetdb'
require_relative '../gems/simpkv-server/spec/support/service'
require_relative 'support/memory'
require_relative 'support/query_commands'
require_relative 'support/query_nodes'
require_relative 'support/report'
require_relative 'support/side_by_side'
require_relative 'support/versions'

# How do queries compare with PuppetDB? Both have the same nodes, and answer the same queries over HTTP on a loopback
# address; answers must be equal. Measures as well the memory of all processes, the commands that both accept in a
# second, the time in which the index is built, and how late a change is visible while 100 nodes a second run, every
# tenth with other facts than before. The store of simpkv is in files in memory, where it is filled in little time.
#
# With BENCH_QUICK, it checks that queries and commands work, without PuppetDB, which takes half a minute to start.
# BENCH_SIZES names the numbers of nodes.
class QueryBench
  PEER = 'PuppetDB'
  OURS = 'simpkv serve'
  BLOCKS = SideBySide::QUICK ? 2 : 15
  # The Java options of Debian's package.
  JAVA = %w[-Xmx192m].freeze
  RUNS_PER_SECOND = 100
  LAG_ROUNDS = SideBySide::QUICK ? 2 : 20
  DELAY_MAX = 30

  # @param folder [String] a temporary folder
  # @param puppetdb [PuppetDB, nil]
  def initialize(folder, puppetdb)
    @puppetdb = puppetdb
    @nodes = QueryNodes.new(folder)
    @filled = 0
  end

  # @param report [Report]
  def run(report)
    QueryData::SIZES.each do |size|
      fill(size)
      serve(size, report) { |port| compare(size, port, report) }
    end
  end

  private

  # Adds nodes until there are so many.
  def fill(size)
    (@filled...size).each do |number|
      @nodes.run(number)
      submit(number) if @puppetdb
    end
    @filled = size
    return unless @puppetdb

    wait_for(@puppetdb.uri, 'nodes[count()] { }', size)
    wait_for(@puppetdb.uri, 'resources[count()] { type = "Host" }', size)
    wait_for(@puppetdb.uri, 'facts[count()] { name = "run" and value = 0 }', size)
  end

  def submit(number)
    name = QueryData.name(number)
    environment = QueryData.environment(number)
    @puppetdb.client.replace_facts(name, QueryData.facts(number), environment: environment, wait: false)
    resources = QueryData.resources(number).map { |resource| resource.merge('aliases' => []) }
    @puppetdb.client.replace_catalog(name, resources, environment: environment, wait: false)
  end

  # Starts the service, which builds its index anew.
  #
  # @yieldparam uri [String]
  def serve(size, report)
    @nodes.delete_index
    began = now
    Service.run(@nodes.options, '--bind', 'tcp://127.0.0.1:0', '--local-write', preloaded: false) do |service|
      uri = "http://127.0.0.1:#{service.addresses.grep(/tcp/).first[/\d+\z/]}"
      wait_for(uri, 'nodes[count()] { }', size)
      report.at_most("seconds until the index of #{size} nodes is built", 60, now - began)
      yield uri
      memory(size, service, report)
      lag(size, uri, report)
      commands(size, uri, report)
    end
  end

  def compare(size, uri, report)
    QueryData::QUERIES.each do |title, query|
      contestants = { PEER => @puppetdb&.uri, OURS => uri }.compact.transform_values { |place| get(place, query) }
      rows = report.add(SideBySide.run("#{title}, #{size} nodes", contestants,
                                       seconds: nil, blocks: BLOCKS, warm: 5, equal: method(:sorted)))
      report.at_least("#{title}, #{size} nodes", 1, Report.ratio(rows, OURS, PEER)) if @puppetdb
    end
  end

  # @return [Proc] asks, with one connection
  def get(uri, query)
    uri = URI("#{uri}/pdb/query/v4?#{URI.encode_www_form('query' => query)}")
    http = Net::HTTP.new(uri.host, uri.port, nil)
    http.read_timeout = 300
    http.start
    lambda do
      answer = http.get(uri.request_uri)
      answer.is_a?(Net::HTTPOK) ? answer.body : raise("#{query}: #{answer.code} #{answer.body}")
    end
  end

  def sorted(text)
    JSON.parse(text).sort_by { |row| JSON.generate(row.sort.to_h) }
  end

  def memory(size, service, report)
    ours = Memory.of(service.pid)
    report.note("Memory (PSS) with #{size} nodes: #{OURS} and its processes #{ours.round} MB.")
    return unless @puppetdb

    peer = @puppetdb.pids.values.sum { |pid| Memory.of(pid) }
    report.note("PuppetDB and PostgreSQL: #{peer.round} MB.")
    report.at_most("memory, #{size} nodes: #{OURS} / PuppetDB", 0.2, ours / peer)
  end

  # The next size, or nothing, needs the facts of before: both have them again then.
  def commands(size, uri, report)
    rates = QueryCommands.new({ PEER => @puppetdb&.uri, OURS => uri }.compact).rates
    texts = rates.map { |name, rate| format('%<name>s %<rate>.0f', name: name, rate: rate) }
    report.note("Commands accepted in a second, with #{size} nodes, over #{QueryCommands::CONNECTIONS} connections: " \
                "#{texts.join(', ')}.")
    report.at_least("commands accepted a second, #{size} nodes", 1.2, rates[OURS] / rates[PEER]) if @puppetdb
    (0...(QueryCommands::COMMANDS / 2)).each do |number|
      @nodes.run(number)
      submit(number) if @puppetdb
    end
  end

  # A writer saves the facts of 100 nodes a second. How late is the last one visible?
  def lag(size, uri, report)
    delays, rate = delays_beside_runs(uri)
    # PuppetDB has the facts of before.
    @filled.times { |number| @nodes.run(number) }
    report.note(format('%<rate>.0f of %<size>d nodes ran in each second in which it was measured how late a change ' \
                       'is visible: %<median>.2f s (median).',
                       rate: rate, size: size, median: delays.sort[delays.length / 2]))
    report.at_most("seconds until a change is visible, #{size} nodes, the most of #{LAG_ROUNDS}", 2, delays.max)
  end

  # @return [Array(Array<Float>, Float)] seconds, and the nodes that ran in each second
  def delays_beside_runs(uri)
    runs = 0
    began = now
    writer = Thread.new { loop { run_of(runs += 1) && sleep([runs.fdiv(RUNS_PER_SECOND) - (now - began), 0].max) } }
    delays = Array.new(LAG_ROUNDS) { |round| delay(uri, round + 1) }
    [delays, runs / (now - began)]
  ensure
    writer&.kill&.join
  end

  # Any node but the first, whose changes are waited for. The facts of every tenth run have changed.
  def run_of(number)
    @nodes.run(1 + (number % (@filled - 1)), number % 10 == 1 ? number : nil)
    true
  end

  # @return [Float] seconds; {DELAY_MAX} if it took longer
  def delay(uri, run)
    ask = get(uri, "facts[value] { certname = '#{QueryData.name(0)}' and name = 'run' }")
    @nodes.run(0, run)
    began = now
    sleep 0.02 until visible?(ask, run) || now - began > DELAY_MAX
    [now - began, DELAY_MAX].min
  end

  # An index that is too old is an error, and no answer.
  def visible?(ask, run)
    JSON.parse(ask.call) == [{ 'value' => run }]
  rescue RuntimeError
    false
  end

  def wait_for(uri, query, count)
    ask = get(uri, query)
    sleep 0.2 until count?(ask, count)
  end

  # The service answers with an error while it builds the index for the first time.
  def count?(ask, count)
    JSON.parse(ask.call).first['count'] == count
  rescue RuntimeError
    false
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end

report = Report.new('Queries')
Dir.mktmpdir('query') do |folder|
  next QueryBench.new(folder, nil).run(report) if SideBySide::QUICK

  PuppetDB.run(java: QueryBench::JAVA) { |puppetdb| QueryBench.new(folder, puppetdb).run(report) }
end
gems = %w[sqlite3 parslet puma].to_h { |name| [name, Gem::Specification.find_by_name(name).version.to_s] }
report.print('query', Versions.own.merge(Versions.of('puppetdb', 'postgresql-15'), gems))
