# frozen_string_literal: true

require 'securerandom'
require 'time'
require_relative 'estate_usage'

# Nodes that all export and collect at once, for some time, through a puppetserver. Each run of a node exports resources
# with the number of the run, so that each catalog shows which run of the other nodes it has collected. Titles come back
# after some runs: puppetserver keeps a metric for each title of a defined type forever.
#
# The clients send facts, request a catalog and send a report, as agents do. They do not apply it: eight agents would
# keep two processors busy by themselves.
class EstateLoad
  # The resources that a node exports of each of the two types.
  EACH = 5

  # The parameter of each type that has the number of the run.
  TYPES = { 'Notify' => 'message', 'Mark' => 'run' }.freeze

  # The number of runs after which titles come back.
  TITLES = 4

  # All catalogs are requested by localhost, so nodes know their names by a fact.
  MANIFEST = <<~PUPPET
    define mark(String $run) { }

    $generation = String($facts['run'])
    Integer[1, #{EACH}].each |$n| {
      $title = "${facts['me']} ${facts['run'] % #{TITLES}} ${n}"
      @@notify { $title: message => $generation }
      @@mark { $title: run => $generation, tag => 'wanted' }
    }
    Notify <<| |>>
    Mark <<| tag == 'wanted' |>>
  PUPPET

  # Prints as JSON Java's table of live objects by class, after a full collection, and the bytes that the C library
  # allocated. It does not read the table: JRuby's parts of a string share its bytes, and it makes one object of equal
  # frozen strings. A class name in a literal of the next template kept all of the former table alive.
  MEMORY = <<~ERB
    <% require "java"
       require "#{File.expand_path('../../../../spec/support/native_memory', __dir__)}"
       name = javax.management.ObjectName.new("com.sun.management:type=DiagnosticCommand")
       arguments = [[].to_java(:string)].to_java(:object)
       table = java.lang.management.ManagementFactory.getPlatformMBeanServer.invoke(
         name, "gcClassHistogram", arguments, ["[Ljava.lang.String;"].to_java(:string)) %>
    <%= JSON.generate("table" => table, "native" => NativeMemory.taken) %>
  ERB
  private_constant :MEMORY

  # @return [Array<String>] descriptions of wrong catalogs
  attr_reader :anomalies

  # @param server [PuppetServer]
  # @param nodes [Integer] the number of nodes that run at the same time
  def initialize(server, nodes)
    @server = server
    @server.environment('load', MANIFEST)
    @started = Array.new(nodes) { |number| ["node#{number}", 0] }.to_h
    @finished = @started.dup
    @anomalies = []
    @lock = Mutex.new
  end

  # @return [Integer] the number of runs so far
  def runs
    @finished.values.sum
  end

  # @return [EstateUsage] what the server uses at the moment
  def usage
    @server.environment('usage', "notify { inline_template('#{MEMORY}'): }")
    EstateUsage.of(@server.pid, runs, JSON.parse(@server.compile('usage').first))
  end

  # Runs all nodes for some time, and each of them a few times even on a slow machine.
  #
  # @param seconds [Numeric]
  # @param times [Integer] the least number of runs of each node
  def run(seconds, times)
    deadline = now + seconds
    @started.map { |name, last| Thread.new { run_node(name, last + times, deadline) } }.each(&:join)
  end

  private

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end

  def run_node(name, last, deadline)
    @server.client.connected do |client|
      run_once(client, name) while now < deadline || @started[name] < last
    end
  rescue StandardError => e
    @lock.synchronize { @anomalies << "#{name}: #{e.class}: #{e.message[0, 500]}" }
  end

  def run_once(client, name)
    before, run = @lock.synchronize { [@finished.dup, @started[name] += 1] }
    catalog = client.catalog(name, environment: 'load', facts: facts(name, run))
    found = @lock.synchronize do
      @finished[name] = run
      wrong(catalog, before.merge(name => run), @started)
    end
    client.report(name, report(name), environment: 'load')
    @lock.synchronize { @anomalies.concat(found.map { |text| "run #{run} of #{name}: #{text}" }) }
  end

  # @param before [Hash{String => Integer}] by node, the run that had ended when the catalog was requested
  # @param after [Hash{String => Integer}] by node, the run that had begun when the catalog came
  # @return [Array<String>] what is lost, torn or doubled
  def wrong(catalog, before, after)
    TYPES.keys.product(before.keys).map do |type, name|
      found = exports(catalog, type, name)
      possible = before[name]..after[name]
      next if possible.any? { |run| found == exports_of(name, run) }

      "#{type} of #{name}: #{found.length} of the runs #{found.map(&:last).uniq}, not #{EACH} of one of #{possible}"
    end.compact
  end

  # @return [Array<Array(String, String)>] the titles and runs of the node's resources in a catalog
  def exports(catalog, type, name)
    resources = catalog['resources'].select { |each| each['type'] == type && each['title'].start_with?("#{name} ") }
    resources.map { |resource| [resource['title'], resource['parameters'][TYPES[type]]] }.sort
  end

  # @return [Array<Array(String, String)>] what a run exports; nothing for 0, as there is none
  def exports_of(name, run)
    run.zero? ? [] : (1..EACH).map { |number| ["#{name} #{run % TITLES} #{number}", run.to_s] }
  end

  # As many facts as a small machine has, most of which differ with each run.
  def facts(name, run)
    more = Array.new(50) { |number| ["fact#{number}", { 'text' => 'x' * 40, 'run' => number.even? ? run : 0 }] }
    { 'me' => name, 'run' => run, 'os' => { 'family' => 'Debian', 'name' => 'Debian' }, **more.to_h }
  end

  # The report of a run that changed nothing.
  def report(name)
    time = Time.now.utc.iso8601(9)
    { 'host' => name, 'time' => time, 'configuration_version' => 1, 'transaction_uuid' => SecureRandom.uuid,
      'report_format' => 12, 'puppet_version' => '7.23.0', 'status' => 'unchanged', 'noop' => false,
      'noop_pending' => false, 'environment' => 'load', 'logs' => [], 'resource_statuses' => {},
      'corrective_change' => false, 'metrics' => metrics }
  end

  def metrics
    { 'resources' => [['total', 'Total', 10], ['changed', 'Changed', 0], ['failed', 'Failed', 0]],
      'changes' => [['total', 'Total', 0]], 'events' => [['total', 'Total', 0]] }
      .to_h { |name, values| [name, { 'name' => name, 'label' => name.capitalize, 'values' => values }] }
  end
end
