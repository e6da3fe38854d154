# frozen_string_literal: true

require 'json'
require 'net/http'
require_relative '../../gems/simpkv-server/spec/support/query_estate'
require_relative 'query_data'

# How many commands does a server accept in a second? Sends facts that have changed, and reports, over some connections,
# as compilers do. Between two turns it waits until the facts of the turn are visible: PuppetDB carries out commands
# later, and must not take the processors from the next turn.
class QueryCommands
  CONNECTIONS = 4
  # Commands of a turn: as many facts as reports.
  COMMANDS = QueryData::QUICK ? 8 : 400
  TURNS = QueryData::QUICK ? 1 : 7
  VERSIONS = { 'replace_facts' => 5, 'store_report' => 8 }.freeze

  # @param uris [Hash{String => String}] by the name of the contestant
  def initialize(uris)
    @uris = uris
    @run = 0
  end

  # @return [Hash{String => Float}] commands a second, the median of the turns
  def rates
    rates = @uris.transform_values { [] }
    (TURNS + 1).times do |turn| # The first one warms up.
      @run += 1
      @uris.each { |name, uri| rates[name] << rate(uri) if turn.positive? || !rate(uri) }
    end
    rates.transform_values { |list| list.sort[list.length / 2] }
  end

  private

  def rate(uri)
    queue = Queue.new
    COMMANDS.times { |number| queue << command(number) }
    connections = Array.new(CONNECTIONS) { connect(uri) }
    began = now
    connections.map { |http| Thread.new { send_all(http, queue) } }.each(&:join)
    rate = COMMANDS / (now - began)
    settle(uri)
    rate
  ensure
    connections&.each(&:finish)
  end

  def connect(uri)
    uri = URI(uri)
    Net::HTTP.new(uri.host, uri.port, nil).tap do |http|
      http.keep_alive_timeout = 30
      http.start
    end
  end

  def send_all(http, queue)
    until queue.empty?
      name, certname, body = queue.pop(true)
      parameters = { 'command' => name, 'version' => VERSIONS.fetch(name), 'certname' => certname }
      answer = http.post("/pdb/cmd/v1?#{URI.encode_www_form(parameters)}", body, 'Content-Type' => 'application/json')
      raise "#{name}: #{answer.code} #{answer.body}" unless answer.is_a?(Net::HTTPOK)
    end
  rescue ThreadError
    nil # Another thread has taken the last one.
  end

  # @return [Array(String, String, String)] name, certname and body
  def command(number)
    certname = QueryData.name(number / 2)
    number.even? ? ['replace_facts', certname, facts(number / 2)] : ['store_report', certname, report(certname)]
  end

  def facts(number)
    JSON.generate('certname' => QueryData.name(number), 'environment' => QueryData.environment(number),
                  'producer_timestamp' => time, 'producer' => 'puppet',
                  'values' => QueryData.facts(number, @run))
  end

  # With a configuration version of its own: PuppetDB stores equal reports once.
  def report(certname)
    JSON.generate(QueryEstate::REPORTS.first.merge('certname' => certname, 'producer_timestamp' => time,
                                                   'start_time' => time, 'end_time' => time,
                                                   'configuration_version' => "#{certname} #{@run}"))
  end

  def time
    Time.now.utc.iso8601(3)
  end

  def settle(uri)
    query = "facts[count()] { name = 'run' and value = #{@run} }"
    http = connect(uri)
    sleep 0.1 until count(http.get("/pdb/query/v4?#{URI.encode_www_form('query' => query)}")) == COMMANDS / 2
  ensure
    http&.finish
  end

  def count(answer)
    answer.is_a?(Net::HTTPOK) ? JSON.parse(answer.body).first['count'] : raise("#{answer.code} #{answer.body}")
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end
