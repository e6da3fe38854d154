# frozen_string_literal: true

require 'etc'
require 'json'
require 'net/http'
require 'rbconfig'
require 'tmpdir'
$LOAD_PATH.unshift(*Dir[File.expand_path('../{lib,gems/*/lib}', __dir__)])
require 'simpkv/estate'
require_relative '../gems/simpkv-server/spec/support/puppetdb'
require_relative '../gems/simpkv-server/spec/support/service'
require 'rspec/core'
require_relative '../spec/support/ds389'
require_relative '../spec/support/replica'
require_relative '../spec/support/slapd'
require_relative 'support/query_data'
require_relative 'support/report'
require_relative 'support/versions'

# How late is a change visible in queries, and what does it cost the service? Measures `simpkv serve` over files in
# memory, slapd and 389-DS: without other changes, and beside nodes that run 100 times a second, every tenth run with
# other facts. BENCH_BEFORE names the folder of another checkout with its extension built: its service then follows the
# same store at the same time, and both take turns. PuppetDB has no load. BENCH_PLACES names some of the places.
class Freshness
  QUICK = QueryData::QUICK
  PLACES = ENV.fetch('BENCH_PLACES', 'files slapd 389-DS puppetdb').split
  BEFORE = ENV.fetch('BENCH_BEFORE', nil)
  NODES = QUICK ? Hash.new(10) : { 'files' => 500, 'slapd' => 200, '389-DS' => 200 }
  # Seconds until the watches have begun: 389-DS lists its folders again after 10 s.
  BEGUN = QUICK ? 1 : 13
  # Seconds in which processor time is measured.
  MEASURED = QUICK ? 1 : 8
  ROUNDS = QUICK ? 2 : 11
  DELAY_MAX = 10
  JAVA = %w[-Xmx192m].freeze
  GOALS = { 'files' => 0.10, 'slapd' => 0.15, '389-DS' => 0.15 }.freeze
  GOAL_BESIDE_RUNS = 0.5

  # The service of another checkout.
  class OtherService < Service
    def initialize(checkout, *arguments)
      @checkout = checkout
      super(*arguments, preloaded: false)
    end

    private

    def spawn(*arguments)
      Process.spawn(@env, RbConfig.ruby, File.join(@checkout, 'exe/simpkv'), *arguments,
                    chdir: folder, out: [log_file, 'a'], err: [@errors, 'a'])
    end
  end

  # The nodes of a store.
  class Nodes
    RUNS_PER_SECOND = 100

    # @return [Hash] the options of the site
    attr_reader :site

    # @param backend [Hash] the options of the backend
    # @param count [Integer]
    def initialize(backend, count)
      @count = count
      @site = { 'backends' => { 'default' => backend }, 'estate' => {} }
      options = backend.reject { |name, _| name == 'type' || (name == 'id' && backend['type'] == 'file') }
      Simpkv::Store.open(backend['type'], options).put('globals/bench', '{"value":1}')
      estate.make
      count.times { |number| run(number, 0) }
    end

    # @param facts [Integer, nil] changes the facts; nil: the node has those of before
    def run(number, facts)
      change(number, facts) if facts
      estate.reports.save(QueryData.name(number), 'environment' => 'production', 'status' => 'unchanged')
    end

    def change(number, facts)
      estate.facts.save(QueryData.name(number), QueryData.facts(number, facts))
    end

    # Another process makes runs of all nodes but the first.
    #
    # @yieldparam count [Proc] returns the number of runs so far
    def running
      reader, writer = IO.pipe
      pid = fork { run_all(writer) }
      runs = 0
      yield -> { runs += reader.read_nonblock(1 << 20).bytesize }
    ensure
      Process.kill(:KILL, pid)
      Process.wait(pid)
    end

    private

    def estate
      @estate ||= Simpkv::Estate.new(@site)
    end

    def run_all(writer)
      @estate = nil
      began = Freshness.now
      (1..).each do |number|
        run(1 + (number % (@count - 1)), (number % 10).zero? ? number : nil)
        writer.write('.')
        sleep [number.fdiv(RUNS_PER_SECOND) - (Freshness.now - began), 0].max
      end
    end
  end

  # Asks one service for the fact `run` of the first node.
  class Client
    # @param uri [String]
    def initialize(uri)
      query = "facts[value] { certname = '#{QueryData.name(0)}' and name = 'run' }"
      @uri = URI("#{uri}/pdb/query/v4?#{URI.encode_www_form('query' => query)}")
      @http = Net::HTTP.new(@uri.host, @uri.port, nil)
      @http.keep_alive_timeout = 30
      @http.start
    end

    # @return [Integer, nil] nil if there is no answer yet
    def value
      answer = @http.get(@uri.request_uri)
      JSON.parse(answer.body).dig(0, 'value') if answer.is_a?(Net::HTTPOK)
    end

    # @return [Float] seconds until the fact has this value; {DELAY_MAX} if it took longer
    def delay(expected)
      began = Freshness.now
      sleep 0.005 until value == expected || Freshness.now - began > DELAY_MAX
      [Freshness.now - began, DELAY_MAX].min
    end
  end

  def self.now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end

  # @param report [Report]
  def initialize(report)
    @report = report
    @run = 0
    @report.note('| store | runs a second | contestant | median | most | processor time of its service |',
                 '|---|---:|---|---:|---:|---:|')
  end

  # @param place [String] files, slapd or 389-DS
  # @param backend [Hash] the options of the backend
  def run(place, backend)
    @nodes = Nodes.new(backend, NODES[place])
    services do |services|
      quiet = turns(place, services) { 0 }
      @report.at_most("#{place}: median seconds until a change is visible", GOALS[place], median(quiet))
      busy = @nodes.running { |count| turns(place, services, &count) }
      @report.at_most("#{place}, beside runs: most seconds", GOAL_BESIDE_RUNS, busy.max)
    end
  end

  # @param puppetdb [PuppetDB]
  def peer(puppetdb)
    client = Client.new(puppetdb.uri)
    delays = Array.new(ROUNDS) do |run|
      puppetdb.client.replace_facts(QueryData.name(0), QueryData.facts(0, run), wait: false)
      client.delay(run)
    end
    row('PuppetDB', 0, 'PuppetDB', delays, nil)
  end

  private

  # @yieldparam services [Hash{String => Service}] by the name of the contestant
  def services
    other = BEFORE && OtherService.new(BEFORE, @nodes.site, '--bind', 'tcp://127.0.0.1:0')
    own = Service.new(@nodes.site, '--bind', 'tcp://127.0.0.1:0', preloaded: false)
    services = { 'simpkv before' => other, 'simpkv' => own }.compact
    services.each_value(&:start)
    yield services
  ensure
    services&.each_value(&:stop)
  end

  # @yieldreturn [Integer] the number of runs so far
  # @return [Array<Float>] the delays of this checkout's service
  def turns(place, services)
    clients = clients(services)
    runs = yield
    times = processor(services.transform_values(&:pid)) { sleep MEASURED }
    rate = (yield - runs) / MEASURED
    delays = rounds(clients)
    services.each_key { |name| row(place, rate, name, delays[name], times[name]) }
    cost(place, rate, times) if BEFORE
    delays['simpkv']
  end

  # @return [Hash{String => Client}] when the services follow the store
  def clients(services)
    clients = services.transform_values do |service|
      Client.new("http:#{service.addresses.grep(/tcp/).first[/:\K.*/]}")
    end
    clients.each_value { |client| sleep 0.1 until client.value }
    sleep BEGUN
    clients
  end

  def rounds(clients)
    delays = clients.transform_values { [] }
    ROUNDS.times do
      clients.each do |name, client|
        sleep(rand)
        @nodes.change(0, @run += 1)
        delays[name] << client.delay(@run)
      end
    end
    delays
  end

  def cost(place, rate, times)
    @report.at_most("#{place}, #{rate} runs a second: processor time / before", 1,
                    times['simpkv'] / [times['simpkv before'], 0.001].max)
  end

  # @return [Hash{String => Float}] the processor time of each process in a second
  def processor(pids)
    before = pids.transform_values { |pid| ticks(pid) }
    began = Freshness.now
    yield
    seconds = Freshness.now - began
    pids.to_h { |name, pid| [name, (ticks(pid) - before[name]) / Etc.sysconf(Etc::SC_CLK_TCK).to_f / seconds] }
  end

  def ticks(pid)
    File.read("/proc/#{pid}/stat")[/\)(.*)/, 1].split.values_at(11, 12).sum(&:to_i)
  end

  def row(place, rate, name, delays, time)
    line = format('| %<place>s | %<rate>d | %<name>s | %<median>.3f s | %<most>.3f s | %<time>s |',
                  place: place, rate: rate, name: name, median: median(delays), most: delays.max,
                  time: time ? format('%.1f %%', time * 100) : '')
    warn line
    @report.note(line)
  end

  def median(delays)
    delays.sort[delays.length / 2]
  end
end

report = Report.new('Freshness')
freshness = Freshness.new(report)
Dir.mktmpdir('freshness', '/dev/shm') do |folder|
  backend = { 'type' => 'file', 'id' => 'bench', 'root_path' => folder }
  freshness.run('files', backend) if Freshness::PLACES.include?('files')
end
{ 'slapd' => [Slapd, { more: Replica::SUPPLIER }], '389-DS' => [Ds389, {}] }.each do |place, (type, options)|
  next unless Freshness::PLACES.include?(place)

  type.run(limits: true, **options) do |server|
    freshness.run(place, server.options('type' => 'ldap', 'id' => 'bench'))
  end
end
if Freshness::PLACES.include?('puppetdb') && !Freshness::QUICK
  PuppetDB.run(java: Freshness::JAVA) { |puppetdb| freshness.peer(puppetdb) }
end
before = Freshness::BEFORE ? { 'before' => `git -C #{Freshness::BEFORE} rev-parse --short HEAD`.chomp } : {}
packages = Versions.of('slapd', '389-ds-base', 'puppetdb', 'postgresql-15')
report.print('freshness', Versions.own.merge(packages, before))
