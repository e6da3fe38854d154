# frozen_string_literal: true

require 'json'
require 'socket'

# An HTTP server that answers the queries of `simpkv import-puppetdb` as a PuppetDB with some nodes would, and fails on
# demand. spec/puppetdb has a real PuppetDB, which does not.
#
#   script = PuppetDBScript.new
#   script.node('web1', facts: { 'kernel' => 'Linux' }, resources: [{ 'type' => 'Host', 'title' => 'web1' }])
#   script.fail_at(3) { |client| script.answer(client, 500, '') }
class PuppetDBScript
  SEEN = '2026-11-20T10:00:00.123Z'

  # @return [Array<String>] the paths of the requests
  attr_reader :requests

  def initialize
    @nodes = {}
    @requests = []
    @faults = {}
    @listener = TCPServer.new('127.0.0.1', 0)
    @thread = Thread.new { loop { serve(@listener.accept) } }
  end

  # @return [String] http://127.0.0.1:PORT
  def uri
    "http://127.0.0.1:#{@listener.addr[1]}"
  end

  # @param certname [String]
  # @param facts [Hash, String, nil] a String is malformed data
  # @param resources [Array<Hash>] members of exported resources
  # @param reports [Array<Hash>] the newest first
  # @param packages [Array<Hash>]
  # @param more [Hash] further members of the node
  def node(certname, facts: nil, resources: [], reports: [], packages: [], more: {})
    resources = resources.map do |each|
      { 'certname' => certname, 'environment' => 'production', 'exported' => true, 'file' => '/site.pp', 'line' => 1,
        'tags' => [], 'parameters' => {} }.merge(each)
    end
    more = { 'latest_report_hash' => 'x' }.merge(more) if reports.any?
    reports = reports.map { |each| { 'certname' => certname }.merge(each) }
    packages = packages.map { |each| { 'certname' => certname }.merge(each) }
    @nodes[certname] = { 'nodes' => [row(certname).merge(more)], 'factsets' => [factset(certname, facts)].compact,
                         'resources' => resources, 'reports' => reports, 'package-inventory' => packages }
  end

  # @param number [Integer] of the request, from 1 on; the request for the version included
  # @yieldparam client [TCPSocket]
  def fail_at(number, &fault)
    @faults[number] = fault
  end

  # Sends an answer.
  def answer(client, status, body, length = body.bytesize)
    client.write("HTTP/1.1 #{status} status\r\nContent-Length: #{length}\r\n\r\n#{body}")
  end

  def stop
    @thread.kill.join
    @listener.close
  end

  private

  def row(certname)
    times = %w[catalog_timestamp facts_timestamp report_timestamp].to_h { |name| [name, SEEN] }
    environments = %w[catalog_environment facts_environment report_environment].to_h { |name| [name, 'production'] }
    { 'certname' => certname, 'deactivated' => nil, 'expired' => nil, 'latest_report_status' => 'changed',
      'latest_report_noop' => false }.merge(times, environments)
  end

  def factset(certname, facts)
    return unless facts

    data = Array(facts).map { |name, value| value ? { 'name' => name, 'value' => value } : name }
    { 'certname' => certname, 'environment' => 'production', 'timestamp' => SEEN, 'producer_timestamp' => SEEN,
      'producer' => 'puppet1', 'facts' => { 'data' => data, 'href' => "/pdb/query/v4/factsets/#{certname}/facts" } }
  end

  def serve(client)
    while (line = client.gets)
      path = line.split[1]
      body = read_body(client)
      @requests << path
      fault = @faults[@requests.length]
      fault ? fault.call(client) : answer(client, 200, JSON.generate(result(path, body)))
    end
  rescue SystemCallError, IOError
    nil # The client, or the fault, has closed the connection.
  ensure
    client.close
  end

  def read_body(client)
    length = 0
    while (line = client.gets.to_s.chomp) != ''
      length = Integer(line[/\d+/]) if line.match?(/\Acontent-length:/i)
    end
    client.read(length)
  end

  def result(path, body)
    return { 'version' => '7.12.1' } if path == '/pdb/meta/v1/version'

    names = JSON.parse(body)['query'].flatten(4) & @nodes.keys
    return @nodes.keys.map { |name| { 'certname' => name } } if names.empty?

    names.flat_map { |name| @nodes.fetch(name).fetch(File.basename(path)) }
  end
end
