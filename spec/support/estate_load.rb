# frozen_string_literal: true

require 'securerandom'
require 'time'

# Nodes that all export and collect at once, for some time, through a puppetserver. Each run of a node exports resources
# whose titles have the number of the run, so that each catalog shows which run of the other nodes it has collected.
#
# The clients send facts, request a catalog and send a report, as agents do. They do not apply it: eight agents would
# keep two processors busy by themselves.
class EstateLoad
  # The resources that a node exports of each of the two types.
  EACH = 5

  TYPES = %w[Notify Mark].freeze

  # All catalogs are requested by localhost, so nodes know their names by a fact.
  MANIFEST = <<~PUPPET
    define mark() { }

    Integer[1, #{EACH}].each |$n| {
      $title = "${facts['me']} ${facts['run']} ${n}"
      @@notify { $title: }
      @@mark { $title: tag => 'wanted' }
    }
    Notify <<| |>>
    Mark <<| tag == 'wanted' |>>
  PUPPET

  HEAP = <<~ERB
    <% require "java"
    java.lang.System.gc
    memory = java.lang.Runtime.getRuntime %><%= (memory.totalMemory - memory.freeMemory) >> 20 %>
  ERB
  private_constant :HEAP

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

  # @return [Hash{Symbol => Integer}] the resources of the server in use: `heap` after a collection and `resident`, in
  #   MiB; `files` and `threads`
  def usage
    @server.environment('usage', "notify { inline_template('#{HEAP}'): }")
    status = File.read("/proc/#{@server.pid}/status")
    { heap: @server.compile('usage').first.to_i, resident: status[/VmRSS:\s*(\d+)/, 1].to_i >> 10,
      files: Dir.children("/proc/#{@server.pid}/fd").length, threads: status[/Threads:\s*(\d+)/, 1].to_i }
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
    TYPES.product(before.keys).map do |type, name|
      found = titles(catalog, type, name)
      possible = before[name]..after[name]
      next if possible.any? { |run| found == titles_of(name, run) }

      "#{type} of #{name}: #{found.length} of the runs #{found.map { |title| title.split[1] }.uniq}, not #{EACH} of " \
        "one of #{possible}"
    end.compact
  end

  def titles(catalog, type, name)
    resources = catalog['resources'].select { |each| each['type'] == type && each['title'].start_with?("#{name} ") }
    resources.map { |resource| resource['title'] }.sort
  end

  # @return [Array<String>] the titles of what a run exports; none for 0, as there is none
  def titles_of(name, run)
    run.zero? ? [] : (1..EACH).map { |number| "#{name} #{run} #{number}" }
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
