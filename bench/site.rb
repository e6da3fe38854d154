# frozen_string_literal: true

require_relative 'support/estate_places'
require_relative 'support/site_data'

# How many nodes does one directory server carry? Ten processes, each with several threads, do at the same time what
# simpkv does in the runs of their nodes: facts, 20 gets, a put, a list, a collector in every hundredth run, exports and
# the report. The store has 10,000 nodes. Measures the processor time of the server for each run, which other work on
# the machine changes little, and compares it with the runs of 10,000 nodes.
class SiteBench
  COMPILERS = SideBySide::QUICK ? 2 : 10
  THREADS = 4
  # The nodes that each compiler runs, and its runs in a case.
  NODES = SideBySide::QUICK ? 2 : 50
  RUNS = SideBySide::QUICK ? 4 : 300
  # The runs a second of 10,000 nodes that run every 30 minutes.
  RATE = 10_000 / 1800.0
  TICKS = Etc.sysconf(Etc::SC_CLK_TCK).to_f

  # The number of compilers, and the connections of each.
  CASES = [[1, THREADS], [COMPILERS, THREADS], [COMPILERS, 2], [COMPILERS, 1]].freeze

  COLUMNS = ['server', 'compilers', 'connections of each', 'runs a second', 'processor time of the server a run',
             'of a compiler a run', '10,000 nodes keep a processor of the server busy'].freeze
  private_constant :COLUMNS

  # @param places [Array<EstatePlaces::Place>]
  # @param report [Report]
  def self.run(places, report)
    report.note("| #{COLUMNS.join(' | ')} |", "|---|#{'---:|' * (COLUMNS.length - 1)}")
    places.select(&:pid).each { |place| new(place).run(report) }
  end

  # @param place [EstatePlaces::Place] a directory server
  def initialize(place)
    @place = place
  end

  # @param report [Report]
  def run(report)
    CASES.each do |compilers, connections|
      warn "  #{@place.name}, #{compilers} compilers with #{connections} connections"
      rate, server, compiler = measure(compilers, connections)
      report.note(format('| %<name>s | %<compilers>d | %<connections>d | %<rate>.0f | %<server>.2f ms | ' \
                         '%<compiler>.2f ms | %<busy>.1f %% |',
                         name: @place.name, compilers: compilers, connections: connections, rate: rate,
                         server: server * 1000, compiler: compiler * 1000, busy: server * RATE * 100))
      next unless compilers == COMPILERS && connections == THREADS

      report.at_least("#{@place.name}: runs that a processor of the server carries / those of 10,000 nodes", 10,
                      1 / (server * RATE))
    end
  end

  private

  # @return [Array(Float, Float, Float)] runs a second, and seconds of processor time of the server and of a compiler
  #   for each run
  def measure(compilers, connections)
    started = Array.new(compilers) { |number| compiler(number, connections) }
    started.each(&:answer)
    server = processor_time
    began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    started.map { |each| Thread.new { each.time(RUNS) } }.each(&:value)
    took = Process.clock_gettime(Process::CLOCK_MONOTONIC) - began
    runs = compilers * RUNS
    [runs / took, (processor_time - server) / runs, started.sum(&:processor) / compilers]
  ensure
    started&.each(&:stop)
  end

  def compiler(number, connections)
    program = File.join(__dir__, 'support', 'site_compiler.rb')
    arguments = [THREADS, number * NODES, NODES].map(&:to_s)
    OtherProcess.new([RbConfig.ruby, program, *arguments], 'SIMPKV_CONFIG' => config(connections))
  end

  def config(connections)
    site = YAML.load_file(@place.config)
    site['backends']['default'].merge!('pool_size' => connections, 'pool_timeout_seconds' => 60)
    "#{@place.config}-#{connections}".tap { |file| File.write(file, site.to_yaml) }
  end

  # @return [Float] seconds of the server
  def processor_time
    File.read("/proc/#{@place.pid}/stat")[/(?<=\) ).*/].split.values_at(11, 12).sum(&:to_i) / TICKS
  end
end

report = Report.new('Site')
EstatePlaces.run { |places| SiteBench.run(places, report) }
report.print('site', Versions.own.merge(Versions.of('libldap-2.5-0', 'slapd', '389-ds-base')))
