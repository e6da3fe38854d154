# frozen_string_literal: true

require 'net/http'
require_relative '../spec/support/scratch'
require_relative '../spec/support/service'
require_relative 'support/query_nodes'
require_relative 'support/report'
require_relative 'support/side_by_side'
require_relative 'support/versions'

# How long do the pages of the console take with 10,000 nodes of 50 resources, and with 100,000 keys in one folder?
# Compares them with a page that reads nothing.
class ConsoleBench
  NODES = SideBySide::QUICK ? 40 : 10_000
  KEYS = SideBySide::QUICK ? 100 : 100_000
  BLOCKS = SideBySide::QUICK ? 2 : 20
  # The time and the size that a page may have.
  MILLISECONDS = 300
  KILOBYTES = 100

  PAGES = {
    'the form of a query, which reads nothing' => '/query',
    'overview' => '/',
    'nodes' => '/nodes',
    'nodes with a filter, by time' => '/nodes?q=node0&status=unchanged&sort=seen&order=desc',
    'the last page of nodes' => "/nodes?offset=#{NODES - 50}",
    'a node' => "/nodes/#{QueryData.name(7)}",
    'names of facts' => '/facts',
    'values of a fact' => '/facts/os/family',
    'types of resources' => '/resources',
    'resources by title' => '/resources/File?title=%2Fetc%2Fsite%2F7',
    'a folder of keys' => '/keys/many/',
    'a folder of keys with a filter' => '/keys/many/?filter=key0000'
  }.freeze

  def initialize(folder)
    @nodes = QueryNodes.new(folder)
    NODES.times { |number| @nodes.run(number) }
    document = %({"value":"Xu8#kq!0"})
    keys = Array.new(KEYS) { |number| format('environments/production/many/key%06d', number) }
    keys.each_slice(1000) { |some| @nodes.store.put_many(some.to_h { |key| [key, document] }) }
  end

  # @param report [Report]
  def run(report)
    Service.run(@nodes.options, '--bind', 'tcp://127.0.0.1:0', '--local-write') do |service|
      @port = Integer(service.addresses.grep(/tcp/).first[/\d+\z/])
      sleep 0.2 until ready?
      measure(report)
    end
  end

  private

  # Queries are refused until the index is there.
  def ready?
    get('/facts').call.include?('site_000')
  rescue RuntimeError
    false
  end

  # The pages differ, so that only their size is compared.
  def measure(report)
    pages = PAGES.transform_values { |path| get(path) }
    sizes = pages.transform_values { |page| page.call.bytesize }
    timing = { seconds: nil, blocks: BLOCKS, warm: 5, equal: ->(_) { true } }
    rows = report.add(SideBySide.run("page, #{NODES} nodes, #{KEYS} keys", pages, **timing))
    PAGES.each_key do |name|
      report.at_most("#{name}: ms", MILLISECONDS, Report.row(rows, name).median * 1000)
      report.at_most("#{name}: kB", KILOBYTES, sizes[name] / 1000.0)
    end
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
Scratch.make('console') { |folder| ConsoleBench.new(folder).run(report) }
gems = %w[roda tilt erubi puma sqlite3].to_h { |name| [name, Gem::Specification.find_by_name(name).version.to_s] }
report.print('console', Versions.own.merge(gems))
