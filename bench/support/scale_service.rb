# frozen_string_literal: true

require 'json'
require 'net/http'
require_relative '../../gems/simpkv-server/spec/support/service'
require_relative 'memory'
require_relative 'processor_time'
require_relative 'query_data'
require_relative 'side_by_side'

# The costs of the service over an estate of {ScaleBench}.
class ScaleService
  ROUNDS = SideBySide::QUICK ? 1 : 7
  # The service is at rest if it needs less than this part of a processor, and is waited for as many seconds at most.
  REST = 0.05
  REST_MOST = 900
  NODE = QueryData.name(7)
  QUERIES = QueryData::QUERIES.merge(
    'nodes that have changed' => 'reports[certname] { latest_report? = true and status = "changed" }',
    'the counts of states' => 'reports[status, count()] { latest_report? = true group by status }',
    'events of a resource' => 'events[certname, timestamp] { resource_title = "/etc/app/conf.d/7.conf" }'
  ).freeze
  PAGES = { 'first page' => '/', 'nodes' => '/nodes', 'nodes by time' => '/nodes?sort=seen&order=desc',
            'changes' => '/console/changes', 'search' => '/search?q=node00007', 'a node' => "/nodes/#{NODE}",
            'reports of a node' => "/nodes/#{NODE}/reports", 'values of a fact' => '/facts/os/family' }.freeze

  # Starts a service, which builds its index anew.
  #
  # @param site [Hash] the options, with the folder of the index
  # @param size [Integer] the number of nodes
  # @yieldparam service [ScaleService]
  # @yieldparam built [Array(Float, Float)] seconds until the index is built, and those of processor time
  def self.run(site, size)
    FileUtils.rm_rf(site['server']['index'])
    Service.run(site, '--bind', 'tcp://127.0.0.1:0', '--local-write', preloaded: false) do |service|
      probe = new(service)
      began = probe.now
      sleep 0.2 until probe.answered?('nodes[count()] { }', 'count' => size)
      built = [probe.now - began, probe.worked]
      yield probe, built
    end
  end

  # @param service [Service]
  def initialize(service)
    @pid = service.pid
    @uri = "http://127.0.0.1:#{service.addresses.grep(/tcp/).first[/\d+\z/]}"
  end

  # Asks for the first page, for which the service examines the site in a process of its own, and waits until it is at
  # rest.
  #
  # @return [Array(Float, Float)] seconds, and those of processor time
  def examine
    began = [now, worked]
    get('/')
    loop do
      before = worked
      sleep 1
      break if (worked - before < REST && !examining?) || now > began.first + REST_MOST
    end
    [now, worked].zip(began).map { |time, start| time - start }
  end

  # @return [Hash{String => Array(Float, Float)}] the milliseconds of each query and page, and those of processor time
  def requests
    paths = QUERIES.to_h { |title, query| ["ms: #{title}", query_path(query)] }
    paths.update(PAGES.transform_keys { |title| "ms: page of #{title}" }).transform_values { |path| request(path) }
  end

  # @return [Float] MB
  def memory
    Memory.of(@pid)
  end

  # @return [Float] seconds of processor time
  def worked
    ProcessorTime.of(@pid)
  end

  # The service refuses queries until the index is there.
  #
  # @param query [String]
  # @param row [Hash] the only one of the answer
  # @return [Boolean]
  def answered?(query, row)
    JSON.parse(get(query_path(query))) == [row]
  rescue RuntimeError
    false
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end

  private

  # A process that waits for a processor needs none, so that the share alone tells nothing.
  #
  # @return [Boolean] whether there is a process of `simpkv doctor`
  def examining?
    children = Dir["/proc/#{@pid}/task/*/children"].flat_map { |file| File.read(file).split }
    children.any? { |child| File.read("/proc/#{child}/cmdline").include?("\0doctor\0") }
  rescue Errno::ENOENT, Errno::ESRCH
    true # It has just ended.
  end

  # @return [Array(Float, Float)] medians
  def request(path)
    get(path)
    costs = Array.new(ROUNDS) do
      before = [now, worked]
      get(path)
      [now, worked].zip(before).map { |time, began| (time - began) * 1000 }
    end
    costs.transpose.map { |each| SideBySide.median(each) }
  end

  def query_path(query)
    "/pdb/query/v4?#{URI.encode_www_form('query' => query)}"
  end

  # @return [String]
  # @raise [RuntimeError] the service refuses, for example because the index is not built yet
  def get(path)
    uri = URI("#{@uri}#{path}")
    accept = path.start_with?('/pdb/') ? 'application/json' : 'text/html'
    answer = Net::HTTP.start(uri.host, uri.port, nil, read_timeout: 600) do |http|
      http.get(uri.request_uri, 'Accept' => accept)
    end
    answer.is_a?(Net::HTTPOK) ? answer.body : raise("#{path}: #{answer.code} #{answer.body[0, 200]}")
  end
end
