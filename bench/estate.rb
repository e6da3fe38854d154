# frozen_string_literal: true

require_relative 'support/distance'
require_relative 'support/estate_places'
require_relative 'support/memory'

# How does the estate compare with PuppetDB? Both have the same 10,000 nodes. Measures searches of exported resources,
# saves of 100 of them, the memory of all processes and `simpkv nodes`, and counts the writes and the round trips of a
# run without changes.
#
# With BENCH_QUICK, it checks that the contestants on files and slapd work and find the same, without PuppetDB and
# 389-DS: PuppetDB alone takes half a minute to start.
class EstateBench
  PEER = 'PuppetDB, query and parse'
  COLLECTED = ', made for a collector'
  SUBMISSION = 'PuppetDB, submission'
  BLOCKS = SideBySide::QUICK ? 2 : 25
  WARM = 20 # seconds, until Java has compiled the hot code

  # The Java options of Debian's package.
  JAVA = %w[-Xmx192m].freeze

  # The time that is added to each round trip of a run, to count them.
  DISTANCE = 100 # milliseconds

  TYPES = { 'Bench::Key' => '%d exported resources', 'Bench::Host' => '%d exported resources',
            'Bench::Service' => '%d exported resources, 10 of a node' }.freeze

  def self.run
    return EstatePlaces.run { |places| new(nil, places).run } if SideBySide::QUICK

    PuppetDB.run(java: JAVA) do |puppetdb|
      EstatePlaces.fill(puppetdb)
      puppetdb.make_durable
      EstatePlaces.run { |places| new(puppetdb, places).run }
    end
  end

  def initialize(puppetdb, places)
    @puppetdb = puppetdb
    @places = places
    @report = Report.new('Estate')
  end

  def run
    Dir.mktmpdir('bench-modules') do |modules|
      define_types(modules)
      TYPES.each { |type, title| search(type, format(title, EstateData::TYPES.fetch(type).first), modules) }
    end
    save('save of 100 changed resources of one type', 'save', 1)
    save('save of 100 changed resources of 5 types', 'save', 5)
    save('save of 100 unchanged resources', 'save_unchanged', 5)
    memory if @puppetdb
    nodes
    count_run
    packages = %w[puppetdb postgresql-15 slapd 389-ds-base]
    @report.print('estate', Versions.own.merge(Versions.of('openvox', *packages)))
  end

  private

  def contestant(file, *arguments, **environment)
    program = File.join(__dir__, 'support', "estate_#{file}.rb")
    OtherProcess.new([RbConfig.ruby, program, *arguments], environment.transform_keys(&:to_s))
  end

  # @param commands [Hash{String => Array<String>}] by title
  # @return [Hash{String => OtherProcess}] the contestants of PuppetDB; none in a quick run
  def peers(commands, **environment)
    return {} unless @puppetdb

    commands.transform_values do |command|
      contestant('contestant', *command, BENCH_PUPPETDB: @puppetdb.uri, **environment)
    end
  end

  def each_beside_puppetdb(&block)
    @places.each(&block) if @puppetdb
  end

  def compare(title, contestants)
    @report.add(SideBySide.run(title, contestants, seconds: 0.001, blocks: BLOCKS, warm: WARM))
  ensure
    contestants.each_value(&:stop)
  end

  # A defined type for each type of exported resources.
  def define_types(modules)
    EstateData::TYPES.each_key do |type|
      file = File.join(modules, "#{type.downcase.sub('::', '/manifests/')}.pp")
      FileUtils.mkdir_p(File.dirname(file))
      File.write(file, "define #{type.downcase}() {}\n")
    end
  end

  def search(type, title, modules)
    arguments = ['search', type]
    commands = { PEER => ['puppetdb', *arguments], "PuppetDB#{COLLECTED}" => ['puppetdb_collector', *arguments] }
    contestants = peers(commands, BENCH_MODULES: modules)
    @places.each do |place|
      environment = { SIMPKV_CONFIG: place.config, BENCH_MODULES: modules }
      contestants[place.name] = contestant('contestant', 'estate', *arguments, **environment)
      contestants["#{place.name}#{COLLECTED}"] =
        contestant('contestant', 'puppet', *arguments, **environment)
    end
    rows = compare(title, contestants)
    each_beside_puppetdb do |place|
      @report.at_least("#{title}: PuppetDB / #{place.name}", 3, Report.ratio(rows, place.name, PEER))
    end
  end

  def save(title, operation, types)
    arguments = [operation, types.to_s]
    commands = { SUBMISSION => ['puppetdb', *arguments] }
    commands['PuppetDB, until it is visible'] = ['puppetdb', 'save_visibly', types.to_s] if operation == 'save'
    contestants = peers(commands)
    @places.each do |place|
      contestants[place.name] = contestant('contestant', 'estate', *arguments, SIMPKV_CONFIG: place.config)
    end
    rows = compare(title, contestants)
    each_beside_puppetdb do |place|
      @report.at_most("#{title}: #{place.name} / submission", 1, Report.ratio(rows, SUBMISSION, place.name))
    end
  end

  def memory
    jvm, postgresql = @puppetdb.pids.values_at(:jvm, :postgresql).map { |pid| Memory.of(pid) }
    @report.note('| process | MB (PSS) |', '|---|---:|', format('| PuppetDB | %.0f |', jvm),
                 format('| PostgreSQL | %.0f |', postgresql))
    @places.each do |place|
      server = place.pid ? Memory.of(place.pid) : 0
      caller = caller_of(place)
      @report.note(format('| %<name>s, and a process that has searched | %<server>.0f + %<caller>.0f |',
                          name: place.name, server: server, caller: caller))
      @report.at_most("memory: #{place.name} / PuppetDB", 0.2, (server + caller) / (jvm + postgresql))
    end
    @report.note('')
  end

  # @return [Float] MB of a process that has searched the largest type
  def caller_of(place)
    contestant = contestant('contestant', 'estate', 'search', 'Bench::Host', SIMPKV_CONFIG: place.config)
    contestant.time(3)
    Memory.of(contestant.pid)
  ensure
    contestant&.stop
  end

  def nodes
    command = [RbConfig.ruby, File.expand_path('../exe/simpkv', __dir__), 'nodes']
    @places.each do |place|
      times = Array.new(5) { time { run_command({ 'SIMPKV_CONFIG' => place.config }, *command) } }
      @report.at_most("simpkv nodes, #{EstateData::NODES} nodes in #{place.name}: seconds", 1, times.sort[2])
    end
  end

  def run_command(environment, *command)
    system(environment, *command, out: File::NULL) || raise("#{command.join(' ')} has failed")
  end

  def time
    began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    yield
    Process.clock_gettime(Process::CLOCK_MONOTONIC) - began
  end

  # Counts at an OpenLDAP that logs requests.
  def count_run
    Slapd.run do |server|
      Distance.before(server, DISTANCE) do |uri|
        runner = contestant('run', SIMPKV_CONFIG: config(server, uri))
        runner.answer
        runner.time(1)
        writes = count_writes(server)
        seconds = runner.time(1)
        @report.at_most('a run without changes: writes', 2, count_writes(server) - writes)
        @report.at_most('a run without changes: round trips', 5, (seconds * 1000 / DISTANCE).floor)
      ensure
        runner&.stop
      end
    end
  end

  def config(server, uri)
    options = { 'type' => 'ldap' }.merge(server.options('ldap_uri' => uri))
    site = { 'backends' => { 'default' => options } }
    Simpkv::Estate.new(site).make
    File.join(server.folder, 'simpkv.yaml').tap { |file| File.write(file, site.to_yaml) }
  end

  def count_writes(server)
    server.log.scan(/ (?:ADD|MOD|DEL|MODRDN) dn=/).length
  end
end

EstateBench.run
