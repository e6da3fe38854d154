# frozen_string_literal: true

require 'tmpdir'
require 'net/http'
require_relative '../gems/simpkv-server/spec/support/service'
require_relative 'support/processor_time'
require_relative 'support/query_nodes'
require_relative 'support/report'
require_relative 'support/side_by_side'
require_relative 'support/versions'
require 'simpkv/inspection'

# A page that a service makes, for {SideBySide}. Other load of the machine delays it, but costs it no processor time.
Page = Struct.new(:operation, :service) do
  # @return [Float] seconds of processor time, of the service and its processes for queries, of each operation in the
  #   last call of {#time}
  attr_reader :processor

  # @return [String]
  def answer
    operation.call
  end

  # @return [Float] seconds an operation
  def time(count)
    before = ProcessorTime.of(service)
    took = SideBySide::InProcess.new(operation).time(count)
    @processor = (ProcessorTime.of(service) - before) / count
    took
  end
end

# How long do the pages of the console take with 10,000 nodes of 50 resources, of which 200 have failed and 2,400 have
# changed 20 resources within a day, with 100 rules, and with 100,000 keys in one folder? Compares them with a page that
# reads nothing.
class ConsoleBench
  NODES = SideBySide::QUICK ? 40 : 10_000
  KEYS = SideBySide::QUICK ? 100 : 100_000
  RULES = 100
  # Of one node: its exported resources, its reports, and the events of each.
  EXPORTS = 50
  REPORTS = 5
  EVENTS = 100
  # One of so many nodes has failed in its last run, and one of so many has changed something.
  FAILED = SideBySide::QUICK ? 10 : 50
  CHANGED = 4
  BLOCKS = SideBySide::QUICK ? 2 : 20
  # The time and the size that a page may have.
  MILLISECONDS = 300
  KILOBYTES = 100

  # Node 7 has reports of its own: see {#fill_node}.
  UNCHANGED = NODES.times.count { |number| [FAILED, CHANGED].none? { |each| (number % each).zero? } }

  NODE = "/nodes/#{QueryData.name(7)}"
  QUERY = QueryData::QUERIES.fetch('nodes by a structured fact')
  # The path of each page, and a text of its content.
  PAGES = {
    'the form of a query, which reads nothing' => ['/query', '<textarea'],
    'overview, what has failed' => ['/', ' failed on '],
    'wall' => ['/console/wall', 'failed'],
    'changes by type of resource' => ['/console/changes', 'File'],
    'the last day' => ['/console/day', 'Index of queries'],
    'search for a node' => ['/search?q=node0000', QueryData.name(7)],
    'search for keys and resources' => ['/search?q=site', '/etc/site/10'],
    'search for nothing that exists' => ['/search?q=xyzzy', 'xyzzy'],
    'nodes with a failure' => ["/nodes?#{URI.encode_www_form('failed' => 'File[/etc/site/0]')}", QueryData.name(0)],
    'silent nodes' => ['/nodes?state=overdue', 'overdue'],
    'nodes' => ['/nodes', QueryData.name(7)],
    'nodes with a filter, by time' => ['/nodes?q=node0&status=unchanged&sort=seen&order=desc', "of #{UNCHANGED}"],
    'the last page of nodes' => ["/nodes?offset=#{[NODES - 50, 0].max}", QueryData.name(NODES - 1)],
    'a node' => [NODE, 'unchanged'],
    'facts of a node' => ["#{NODE}/facts", 'site_000'],
    'reports of a node' => ["#{NODE}/reports", 'Report of '],
    'a report with 100 events' => ["#{NODE}/reports/latest", '/etc/site/7'],
    'catalog of a node' => ["#{NODE}/catalog", '/etc/site/7'],
    'resources of a node' => ["#{NODE}/resources", "alias#{EXPORTS - 1}"],
    'inspection of a node' => ["#{NODE}/inspection", 'rule 98'],
    'names of facts' => ['/facts', 'site_000'],
    'values of a fact' => ['/facts/os/family', 'RedHat'],
    'a fact with many values' => ['/facts/networking.ip', '10.0.'],
    'nodes by the value of a fact' => ["/facts/os/family?#{URI.encode_www_form('value' => '"RedHat"')}", 'RedHat'],
    'types of resources' => ['/resources', 'Package'],
    'resources by title' => ['/resources/File?title=%2Fetc%2Fsite%2F7', QueryData.name(7)],
    "a query with #{NODES / 2} nodes" => ["/query?#{URI.encode_www_form('query' => QUERY)}", "of #{NODES / 2}"],
    'a type of resource' => ['/resources/File', '/etc/site/7'],
    'classes of a node' => ["#{NODE}/classes", 'Role::Base'],
    'comparison of two nodes' => ["#{NODE}/compare?with=#{QueryData.name(8)}", QueryData.name(8)],
    'access' => ['/access', 'Access'],
    'who asks' => ['/session', 'local'],
    'folders of keys' => ['/keys/', 'many'],
    'rules' => ['/rules', 'rule 99'],
    'a key' => ['/keys/many/key000007', 'many/key000007'],
    'a folder of keys' => ['/keys/many/', 'key000007'],
    'a folder of keys with a filter' => ['/keys/many/?filter=key0000', 'key000007']
  }.freeze

  def initialize(folder)
    @nodes = QueryNodes.new(folder)
    Simpkv::Inspection::Rules.of(@nodes.estate).import(Array.new(RULES) { |number| rule(number) })
    NODES.times { |number| @nodes.run(number) }
    NODES.times { |number| save_changes(number) unless number == 7 }
    fill_node(@nodes.estate, QueryData.name(7))
    document = %({"value":"Xu8#kq!0"})
    keys = Array.new(KEYS) { |number| format('environments/production/many/key%06d', number) }
    keys.each_slice(1000) { |some| @nodes.store.put_many(some.to_h { |key| [key, document] }) }
  end

  # @param report [Report]
  def run(report)
    Service.run(@nodes.options, '--bind', 'tcp://127.0.0.1:0', '--local-write', preloaded: false) do |service|
      @port = Integer(service.addresses.grep(/tcp/).first[/\d+\z/])
      sleep 0.2 until ready?
      measure(report, service.pid)
    end
  end

  private

  def rule(number)
    { 'description' => "rule #{number}", 'priority' => number,
      'conditions' => [{ 'op' => 'eq', 'args' => ['{inventory[timezone]}', number.even? ? 'CET' : 'UTC'] }],
      'actions' => [{ 'op' => 'set-attribute', 'args' => ["/parameters/p#{number}", number] }] }
  end

  # Has a node run with rules, exports and events.
  def fill_node(estate, name)
    Simpkv::Inspection::Inspector.of(estate, []).perform(name, QueryData.facts(7))
    exports = Array.new(EXPORTS) { |number| { 'title' => "alias#{number}", 'parameters' => {}, 'tags' => [] } }
    estate.exports.save(name, { 'host' => exports }, QueryData.environment(7))
    events = Array.new(EVENTS) do |number|
      { 'resource' => "File[/etc/site/#{number}]", 'property' => 'content', 'status' => 'success',
        'time' => QueryData::TIME, 'message' => 'content changed', 'file' => QueryData::MANIFEST, 'line' => 42 }
    end
    REPORTS.times { estate.reports.save(name, 'status' => 'unchanged', 'noop' => false, 'events' => events) }
  end

  # Has one node of {FAILED} fail, and one of {CHANGED} change resources.
  def save_changes(number)
    return save_report(number, 'failed', [event(number % 50, number, 'failure')]) if (number % FAILED).zero?

    changes = Array.new(EVENTS / 5) { |at| event(at, number, 'success').merge('corrective_change' => at.zero?) }
    save_report(number, 'changed', changes) if (number % CHANGED).zero?
  end

  def save_report(number, status, events)
    @nodes.estate.reports.save(QueryData.name(number), 'status' => status, 'noop' => false, 'events' => events,
                                                       'environment' => QueryData.environment(number))
  end

  def event(file, number, status)
    { 'resource' => "File[/etc/site/#{file}]", 'property' => 'content', 'status' => status,
      'time' => Time.now.utc.iso8601, 'message' => "content changed to that of #{number % 30}",
      'file' => QueryData::MANIFEST, 'line' => 42 }
  end

  # Queries are refused until the index is there, and the overview has no runs before they were read.
  def ready?
    PAGES.values_at('names of facts', 'overview, what has failed').all? { |path, text| get(path).call.include?(text) }
  rescue RuntimeError
    false
  end

  # The pages differ, so that only their size is compared.
  def measure(report, service)
    pages = PAGES.transform_values { |path, _| get(path) }
    sizes = PAGES.to_h { |name, (path, text)| [name, size(path, pages[name].call, text)] }
    before = load_average
    timing = { seconds: nil, blocks: BLOCKS, warm: 5, equal: ->(_) { true } }
    contestants = pages.transform_values { |page| Page.new(page, service) }
    rows = report.add(SideBySide.run("page, #{NODES} nodes, #{KEYS} keys", contestants, **timing))
    report.note("Load average of a minute: #{before} before the pages were measured, #{load_average} after.",
                'Processor time: that of the service and its processes for queries.')
    add_targets(report, rows, sizes)
  end

  def add_targets(report, rows, sizes)
    PAGES.each_key do |name|
      report.at_most("#{name}: ms", MILLISECONDS, Report.row(rows, name).median * 1000)
      report.at_most("#{name}: kB", KILOBYTES, sizes[name] / 1000.0)
    end
  end

  # @return [String] that of the machine in the last minute
  def load_average
    File.read('/proc/loadavg').split.first
  end

  # @return [Integer] the bytes of a page, which must have that text
  def size(path, page, text)
    page.include?(text) ? page.bytesize : raise("#{path} has no '#{text}'")
  end

  # @return [Proc] asks, with one connection
  def get(path)
    http = Net::HTTP.new('127.0.0.1', @port, nil)
    http.read_timeout = 300
    http.start
    lambda do
      answer = http.get(path, 'Accept' => 'text/html')
      answer.is_a?(Net::HTTPOK) ? answer.body : raise("#{path}: #{answer.code}")
    end
  end
end

report = Report.new('Console')
Dir.mktmpdir('console') { |folder| ConsoleBench.new(folder).run(report) }
gems = %w[roda tilt erubi puma sqlite3].to_h { |name| [name, Gem::Specification.find_by_name(name).version.to_s] }
report.print('console', Versions.own.merge(gems))
