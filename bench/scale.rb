# frozen_string_literal: true

require 'json'
require 'net/http'
require 'tmpdir'
require_relative '../gems/simpkv-server/spec/support/service'
require_relative 'support/contest'
require_relative 'support/memory'
require_relative 'support/query_data'
require_relative 'support/sample_reports'

# What do more nodes cost? Fills an estate with nodes of 125 facts, 50 resources and 14 reports with logs, two of them
# with changes. Measures at each number of nodes what a node costs while it is stored, what it takes on the disk, the
# service and its index, queries, pages of the console, the search for expired nodes, and a backup. Of each cost, the
# table has how it grows from one number of nodes to the next: 1 is as fast as the data.
#
# BENCH_SIZES names the numbers of nodes, BENCH_STORE the store (files, slapd or 389-DS), and BENCH_FOLDER a folder on
# the disk that keeps the estate in files: another run goes on from there.
class ScaleBench
  SIZES = ENV.fetch('BENCH_SIZES', SideBySide::QUICK ? '20 40' : '10000 30000 100000').split.map(&:to_i).freeze
  STORE = ENV.fetch('BENCH_STORE', 'files')
  REPORTS = 14
  PROCESSES = 2
  # The last nodes that each process stores, of which it takes the time.
  TIMED = 100
  ROUNDS = SideBySide::QUICK ? 1 : 5
  RUNS_PER_SECOND = 60
  SECONDS = SideBySide::QUICK ? 1 : 20 # of runs beside the service
  NODE = QueryData.name(7)
  PAGES = { 'first page' => '/', 'nodes' => '/nodes', 'nodes by time' => '/nodes?sort=seen&order=desc',
            'changes' => '/console/changes', 'search' => '/search?q=node00007', 'a node' => "/nodes/#{NODE}",
            'reports of a node' => "/nodes/#{NODE}/reports", 'values of a fact' => '/facts/os/family' }.freeze

  # @param options [Hash] of the backend
  # @param folder [String] for the index and the backup
  # @param data [Proc] returns the folder of what is on the disk of the store
  def initialize(options, folder, data)
    @folder = folder
    @data = data
    @site = { 'backends' => { 'default' => options },
              'estate' => { 'catalogs' => true, 'reports' => REPORTS, 'node_ttl' => '3650d' },
              'server' => { 'index' => File.join(folder, 'index.sqlite') } }
    @costs = Hash.new { |costs, name| costs[name] = {} }
    estate.make
  end

  # @param report [Report]
  def run(report)
    SIZES.each do |size|
      fill(size)
      warn "  #{size} nodes are stored"
      measure(size)
    end
    print(report)
  end

  private

  # A forked process needs connections of its own.
  def estate
    @estates ||= {}
    @estates[Process.pid] ||= Simpkv::Estate.new(@site)
  end

  # Each process stores every second node.
  def fill(size)
    stored = estate.inventory.names.length
    return if stored >= size

    answers = Array.new(PROCESSES) do |process|
      IO.popen('-') { |child| child ? child.read : puts(JSON.generate(fill_some(stored, size, process))) }
    end
    times, processor = answers.map { |answer| JSON.parse(answer) }.transpose
    cost('ms to store a node (elapsed)', size, times.sum / PROCESSES)
    cost('ms to store a node (processor)', size, processor.sum / PROCESSES)
  end

  # @return [Array(Float, Float)] the milliseconds and those of processor time of the last nodes
  def fill_some(first, size, process)
    @samples = SampleReports.new
    numbers = (first...size).select { |number| number % PROCESSES == process }
    timed = numbers.pop(TIMED)
    numbers.each { |number| store(number) }
    clocks = [Process::CLOCK_MONOTONIC, Process::CLOCK_PROCESS_CPUTIME_ID]
    began = clocks.map { |clock| Process.clock_gettime(clock) }
    timed.each { |number| store(number) }
    clocks.zip(began).map { |clock, time| (Process.clock_gettime(clock) - time) * 1000 / timed.length }
  end

  def store(number)
    name = QueryData.name(number)
    environment = QueryData.environment(number)
    estate.facts.save(name, QueryData.facts(number), timestamp: QueryData::TIME)
    estate.exports.save(name, {}, environment)
    estate.catalogs.put(name, 'name' => name, 'version' => 1, 'environment' => environment, 'edges' => [],
                              'classes' => [], 'resources' => QueryData.resources(number))
    REPORTS.times { |run| estate.reports.save(name, @samples.report((run % 7).zero? ? 10 : 0, run)) }
  end

  def measure(size)
    cost('kB on the disk a node', size, disk(@data.call) / size / 1000.0)
    serve(size)
    cost('ms to find expired nodes', size, timed { estate.removable } * 1000)
    backup(size)
  end

  # The service builds its index anew.
  def serve(size)
    FileUtils.rm_f(Dir["#{@site['server']['index']}*"])
    began = now
    Service.run(@site, '--bind', 'tcp://127.0.0.1:0', '--local-write', preloaded: false) do |service|
      @service = service
      @uri = "http://127.0.0.1:#{service.addresses.grep(/tcp/).first[/\d+\z/]}"
      sleep 0.2 until indexed?(size)
      cost('s until the index is built (elapsed)', size, now - began)
      cost('s until the index is built (processor)', size, worked)
      served(size)
    end
  end

  def served(size)
    QueryData::QUERIES.each { |title, query| cost("ms: #{title}", size, asked(query_path(query))) }
    PAGES.each { |title, path| cost("ms: page of #{title}", size, asked(path)) }
    cost('kB of the index a node', size, disk(@site['server']['index']) / size / 1000.0)
    cost('MB of memory (PSS) of the service', size, Memory.of(@service.pid))
    runs(size)
  end

  # Nodes run, every tenth with other facts than before.
  def runs(size)
    before = worked
    began = now
    @samples = SampleReports.new
    (SECONDS * RUNS_PER_SECOND).times do |number|
      run_at(began + number.fdiv(RUNS_PER_SECOND), number % (size - 1), number)
    end
    cost('s until the last of these runs is visible', size, last_visible)
    cost("% of a processor for the service beside #{RUNS_PER_SECOND} runs a second", size,
         (worked - before) * 100 / (now - began))
  end

  # @return [Float] seconds until the facts of a last run are visible
  def last_visible
    estate.facts.save(QueryData.name(0), QueryData.facts(0, -1), timestamp: QueryData::TIME)
    timed { sleep 0.02 until visible?(-1) }
  end

  def run_at(time, node, number)
    sleep [time - now, 0].max
    name = QueryData.name(node)
    estate.facts.save(name, QueryData.facts(node, number + 1), timestamp: QueryData::TIME) if (number % 10).zero?
    estate.reports.save(name, @samples.report(0, number))
  end

  # @param run [Integer] in the facts of the first node
  def visible?(run)
    answered?("facts[value] { certname = '#{QueryData.name(0)}' and name = 'run' }", 'value' => run)
  end

  def backup(size)
    file = File.join(@folder, 'backup.jsonl')
    FileUtils.rm_f(file)
    config = File.join(@folder, 'simpkv.yaml')
    File.write(config, @site.to_yaml)
    took = timed { command('export', '--raw', file, config: config) }
    cost('s of a backup (export)', size, took)
    cost('kB of the backup a node', size, File.size(file) / size / 1000.0)
  end

  def command(*arguments, config:)
    environment = Unbundled::VARIABLES.merge('SIMPKV_CONFIG' => config)
    system(environment, *Unbundled::COMMAND, *arguments, out: File::NULL, err: File::NULL, exception: true)
  end

  # @return [Float] the median of the milliseconds of some requests
  def asked(path)
    get(path)
    Array.new(ROUNDS) { timed { get(path) } }.sort[ROUNDS / 2] * 1000
  end

  def indexed?(size)
    answered?('nodes[count()] { }', 'count' => size)
  end

  # The service refuses queries until the index is there.
  def answered?(query, row)
    JSON.parse(get(query_path(query))) == [row]
  rescue RuntimeError
    false
  end

  def query_path(query)
    "/pdb/query/v4?#{URI.encode_www_form('query' => query)}"
  end

  # @return [String]
  # @raise [RuntimeError] the service refuses, for example because the index is not built yet
  def get(path)
    uri = URI("#{@uri}#{path}")
    answer = Net::HTTP.start(uri.host, uri.port, nil, read_timeout: 600) { |http| http.get(uri.request_uri) }
    answer.is_a?(Net::HTTPOK) ? answer.body : raise("#{path}: #{answer.code} #{answer.body[0, 200]}")
  end

  # @return [Float] seconds of processor time of the service and its processes
  def worked
    children = Dir["/proc/#{@service.pid}/task/*/children"].flat_map { |file| File.read(file).split }
    [@service.pid, *children].sum do |pid|
      File.read("/proc/#{pid}/stat")[/\) (.*)/, 1].split.values_at(11, 12).sum(&:to_i) / 100.0
    rescue Errno::ENOENT
      0
    end
  end

  # @return [Integer] bytes
  def disk(folder)
    IO.popen(['du', '-s', '--block-size=1', *Dir["#{folder}*"]], &:readlines).sum(&:to_i)
  end

  def cost(name, size, value)
    @costs[name][size] = value
  end

  def timed
    began = now
    yield
    now - began
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end

  def print(report)
    steps = SIZES.each_cons(2).map { |_, to| "growth to #{to}" }
    report.note("| cost in #{STORE} | #{[*SIZES.map { |size| "#{size} nodes" }, *steps].join(' | ')} |",
                "|---|#{'---:|' * (SIZES.length + steps.length)}")
    @costs.each { |name, values| report.note("| #{[name, *cells(values)].join(' | ')} |") }
  end

  # The growth is the exponent of the number of nodes with which the cost grows; per node, it is 0 if nothing grows.
  def cells(values)
    growth = SIZES.each_cons(2).map do |from, to|
      before, after = values.values_at(from, to)
      Math.log(after / before) / Math.log(to.fdiv(from)) if [before, after].all? { |value| value.to_f.positive? }
    end
    [*values.values_at(*SIZES), *growth].map { |value| value ? format('%.2f', value) : '' }
  end
end

# @yieldparam folder [String]
def within_folder(&block)
  kept = ENV.fetch('BENCH_FOLDER', nil)
  return yield(kept) if kept

  Dir.mktmpdir('scale', SideBySide::QUICK ? nil : '/var/tmp', &block)
end

report = Report.new('Scale')
within_folder do |folder|
  if ScaleBench::STORE == 'files'
    root = File.join(folder, 'store')
    FileUtils.mkdir_p(File.join(root, 'globals'))
    ScaleBench.new({ 'type' => 'file', 'id' => 'bench', 'root_path' => root }, folder, -> { root }).run(report)
    next report.print('scale', Versions.own)
  end

  server = { 'slapd' => Contest::OpenLDAP, '389-DS' => Contest::DS389 }.fetch(ScaleBench::STORE)
  Contest.at(server) do |contest|
    options = contest.server.options('id' => Contest::ID, 'type' => 'ldap', 'operation_timeout_seconds' => 600)
    ScaleBench.new(options, folder, -> { contest.server.folder }).run(report)
    report.print('scale', contest.versions)
  end
end
