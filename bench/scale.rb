# frozen_string_literal: true

require 'digest/sha2'
require 'json'
require 'tmpdir'
require_relative 'support/contest'
require_relative 'support/costs'
require_relative 'support/measured_command'
require_relative 'support/memory'
require_relative 'support/processor_time'
require_relative 'support/query_data'
require_relative 'support/sample_reports'
require_relative 'support/scale_service'

# What do more nodes cost? Fills an estate with nodes of 125 facts, 50 resources and 14 reports with logs, two of them
# with changes. Measures at each number of nodes what a node costs while it is stored, what it takes on the disk, the
# server, the service and its index, queries, pages of the console, the search for expired nodes and their removal, a
# backup, and its restore into an empty store. A cell with two numbers has the time and the processor time: that of the
# service for queries and pages, that of the directory for stored nodes. The growth is the exponent of the number of
# nodes with which the cost grows: 1 is as fast as the data. It is that of the processor time, if that is known.
#
#   BENCH_STORE=slapd BENCH_FOLDER=/var/tmp/scale bin/bench --save scale
#
# BENCH_STORE is files, slapd or 389-DS. BENCH_FOLDER is a folder on the disk that keeps the costs, and of files the
# estate, too: the results have the costs of all runs with that folder, and a run with more nodes in files goes on from
# there. BENCH_SIZES names other numbers of nodes, and BENCH_PARTS some of {ScaleBench::PARTS}: with 30,000 nodes in
# files, `serve` and `expire back_up` each take some 15 minutes on two processors that are idle otherwise.
class ScaleBench
  STORES = { 'files' => '1000 3000 10000', 'slapd' => '300 1000 3000', '389-DS' => '200 600 1800' }.freeze
  STORE = ENV.fetch('BENCH_STORE', 'files')
  SIZES = ENV.fetch('BENCH_SIZES', SideBySide::QUICK ? '20 40 60' : STORES.fetch(STORE)).split.map(&:to_i).freeze
  # What is measured at each number of nodes, after they were stored.
  PARTS = %w[serve expire back_up].freeze
  REPORTS = 14
  PROCESSES = 2
  # The last nodes that each process stores, of which it takes the time.
  TIMED = 100
  RUNS_PER_SECOND = 60
  SECONDS = SideBySide::QUICK ? 1 : 30 # of runs beside the service
  EXPIRED = 20

  # @param costs [Costs]
  # @param place [Place]
  # @param folder [String] for the index and the backup
  def initialize(costs, place, folder)
    @costs = costs
    @place = place
    @folder = folder
    @site = { 'backends' => { 'default' => place.options },
              'estate' => { 'catalogs' => true, 'reports' => REPORTS, 'node_ttl' => '3650d' },
              'server' => { 'index' => File.join(folder, 'index') } }
    estate.make
  end

  # @return [void]
  def run
    SIZES.each do |size|
      @size = size
      fill
      warn "  #{size} nodes are stored"
      (PARTS & ENV.fetch('BENCH_PARTS', PARTS.join(' ')).split).each { |part| send(part) }
      # Servers write to the disk later.
      cost('kB on the disk a node', disk(@place.data) / @size / 1000.0)
      cost('MB of memory (PSS) of the server', Memory.of(@place.server)) if @place.server
    end
  end

  private

  # A forked process needs connections of its own.
  def estate
    @estates ||= {}
    @estates[Process.pid] ||= Simpkv::Estate.new(@site)
  end

  # Each process stores every second node.
  def fill
    stored = estate.inventory.names.length
    return if stored >= @size

    answers = Array.new(PROCESSES) do |process|
      IO.popen('-') { |child| child ? child.read : puts(JSON.generate(fill_some(stored, process))) }
    end
    elapsed, own, server = answers.map { |answer| JSON.parse(answer) }.transpose.map { |each| each.sum / PROCESSES }
    cost('ms to store a node', elapsed, own)
    # Both processes use the server at once.
    cost('ms of the server to store a node', elapsed, server / PROCESSES) if @place.server
  end

  # @return [Array<Float>] milliseconds of each of the last nodes: elapsed, and of processor time here and of the server
  def fill_some(first, process)
    @samples = SampleReports.new
    numbers = (first...@size).select { |number| number % PROCESSES == process }
    last = numbers.pop(TIMED)
    numbers.each { |number| store(QueryData.name(number), number) }
    costs { last.each { |number| store(QueryData.name(number), number) } }.map { |all| all / last.length }
  end

  # @return [Array<Float>] milliseconds of the block: elapsed, and of processor time here and of the server
  def costs
    before = clocks
    yield
    clocks.zip(before).map { |time, began| (time - began) * 1000 }
  end

  def clocks
    [now, ProcessorTime.of(Process.pid), server_worked]
  end

  def server_worked
    @place.server ? ProcessorTime.of(@place.server) : 0.0
  end

  # @param run [Integer] changes the facts
  def store(name, number, run = 0, reports = REPORTS)
    environment = QueryData.environment(number)
    estate.facts.save(name, QueryData.facts(number, run), timestamp: QueryData::TIME)
    estate.exports.save(name, {}, environment)
    estate.catalogs.put(name, 'name' => name, 'version' => 1, 'environment' => environment, 'edges' => [],
                              'classes' => [], 'resources' => QueryData.resources(number))
    reports.times { |each| estate.reports.save(name, @samples.report((each % 7).zero? ? 10 : 0, each)) }
  end

  def serve
    ScaleService.run(@site, @size) { |service, built| measure_service(service, built) }
  end

  def measure_service(service, built)
    cost('s until the index is built', *built)
    cost('s until the service has examined the site', *service.examine)
    service.requests.each { |title, times| cost(title, *times) }
    cost('kB of the index a node', disk(@site['server']['index']) / @size / 1000.0)
    cost('MB of memory (PSS) of the service', service.memory)
    shares = shares(service) do
      runs
      cost('s until the last run is visible', last_visible(service))
    end
    cost("% of a processor: the service beside #{RUNS_PER_SECOND} runs a second", shares.first)
    cost("% of a processor: the server with #{RUNS_PER_SECOND} runs a second", shares.last) if @place.server
  end

  # @return [Array(Float, Float)] of a processor that service and server keep busy during the block, in percent
  def shares(service)
    clocks = -> { [now, service.worked, server_worked] }
    before = clocks.call
    yield
    took, *worked = clocks.call.zip(before).map { |time, began| time - began }
    worked.map { |seconds| seconds * 100 / took }
  end

  # Nodes run, every tenth with other facts than before.
  def runs
    began = now
    @samples = SampleReports.new
    @changed = Hash.new(0)
    (SECONDS * RUNS_PER_SECOND).times do |number|
      run_at(began + number.fdiv(RUNS_PER_SECOND), number % (@size - 1), number)
    end
    late = now - began - SECONDS
    warn "  the runs took #{late.round} s longer than they should" if late > 1
  end

  # @return [Float] seconds until the facts of a last run are visible
  def last_visible(service)
    name = QueryData.name(0)
    estate.facts.save(name, QueryData.facts(0, -@size), timestamp: QueryData::TIME)
    query = "facts[value] { certname = '#{name}' and name = 'run' }"
    costs { sleep 0.02 until service.answered?(query, 'value' => -@size) }.first / 1000
  end

  def run_at(time, node, number)
    sleep [time - now, 0].max
    @changed[node] = number + 1 if (number % 10).zero?
    store(QueryData.name(node), node, @changed[node], 1)
  end

  # The nodes were deactivated more than a second ago.
  def expire
    @samples = SampleReports.new
    EXPIRED.times { |number| "gone#{number}".tap { |name| store(name, number) && estate.deactivate(name) } }
    sleep 2
    expiring = Simpkv::Estate.new(@site.merge('estate' => @site['estate'].merge('node_purge_ttl' => '1s')))
    found = removed = nil
    elapsed, *worked = costs { found = expiring.removable }
    cost('ms to find expired nodes', elapsed, worked.sum)
    elapsed, *worked = costs { removed = expiring.expire }
    cost("ms to find and remove #{EXPIRED} of them", elapsed, worked.sum)
    raise "other nodes have expired than #{EXPIRED}" unless found == removed && found.length == EXPIRED
  end

  def back_up
    files = %w[backup restored].map { |name| File.join(@folder, "#{name}.jsonl") }
    command('a backup (export)', @site, 'export', '--raw', '--force', files.first)
    cost('kB of the backup a node', File.size(files.first) / @size / 1000.0)
    Place.within(STORE, File.join(@folder, 'restored')) { |place| restore(place, *files) }
    raise 'the restored store is not that of the backup' unless files.map { |file| content(file) }.uniq.one?
  ensure
    FileUtils.rm_rf([*files, journal, File.join(@folder, 'restored')])
  end

  def restore(place, file, again)
    site = @site.merge('backends' => { 'default' => place.options })
    before = place.server && ProcessorTime.of(place.server)
    command('a restore (import)', site, 'import', '--raw', '--journal', journal, file)
    cost('s of the server for a restore', ProcessorTime.of(place.server) - before) if before
    command(nil, site, 'export', '--raw', again)
  end

  def journal
    File.join(@folder, 'journal')
  end

  # @return [Array(Integer, Integer)] the number of keys, and a digest that does not depend on their order
  def content(file)
    digests = File.foreach(file, chomp: true).grep(/"path"/).map { |line| Digest::SHA256.digest(line).unpack1('Q') }
    [digests.length, digests.inject(0) { |sum, digest| (sum + digest) % (1 << 64) }]
  end

  def command(title, site, *arguments)
    config = File.join(@folder, 'simpkv.yaml')
    File.write(config, site.to_yaml)
    elapsed, processor, memory = MeasuredCommand.run(config, File.join(@folder, 'errors'), *arguments)
    return unless title

    cost("s of #{title}", elapsed, processor)
    cost("MB of memory of #{title}", memory)
  end

  # @return [Integer] bytes
  def disk(folder)
    Integer(IO.popen(['du', '-s', '--block-size=1', folder], &:read)[/\d+/], 10)
  end

  def cost(name, amount, processor = nil)
    @costs.add(name, @size, amount, processor)
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end

# An empty store: `options` of the backend, the folder of its data, and the process of its server, or nil.
Place = Struct.new(:options, :data, :server, :versions) do
  # @param store [String]
  # @param folder [String] for files
  # @yieldparam place [Place]
  def self.within(store, folder)
    if store == 'files'
      FileUtils.mkdir_p(File.join(folder, 'globals'))
      return yield new({ 'type' => 'file', 'id' => 'bench', 'root_path' => folder }, folder, nil, Versions.own)
    end

    Contest.at({ 'slapd' => Contest::OpenLDAP, '389-DS' => Contest::DS389 }.fetch(store)) do |contest|
      options = contest.server.options('id' => Contest::ID, 'type' => 'ldap', 'operation_timeout_seconds' => 600)
      yield new(options, contest.data, contest.server.pid, contest.versions)
    end
  end
end

# @yieldparam folder [String]
def within_folder(&block)
  kept = ENV.fetch('BENCH_FOLDER', nil)
  return Dir.mktmpdir('scale', SideBySide::QUICK ? nil : '/var/tmp', &block) unless kept

  FileUtils.mkdir_p(kept)
  yield kept
end

report = Report.new('Scale')
within_folder do |folder|
  file = ->(store) { File.join(folder, "#{store}.json") }
  Place.within(ScaleBench::STORE, File.join(folder, 'store')) do |place|
    ScaleBench.new(Costs.new(file[ScaleBench::STORE], place.versions), place, folder).run
  end
  costs = ScaleBench::STORES.keys.select { |store| File.exist?(file[store]) }
                            .to_h { |store| [store, Costs.new(file[store], {})] }
  costs.each { |store, each| report.note('', *each.table(store)) }
  report.print('scale', costs.values.map(&:versions).inject(:merge))
end
