# frozen_string_literal: true

require 'erb'
require 'json'
require 'net/http'
require 'openssl'
require 'time'

# Makes the requests of agents to a puppetserver, without the time that an agent takes. Both sides verify certificates.
class PuppetClient
  # The server refused a request; the message says why.
  class Refused < StandardError; end

  # @param port [Integer] of the server on localhost
  # @param ssl [String] Puppet's folder with certificates. The server lets localhost speak for any node
  def initialize(port, ssl)
    @http = Net::HTTP.new('localhost', port)
    @http.use_ssl = true
    @http.read_timeout = 600
    @http.ca_file = File.join(ssl, 'certs', 'ca.pem')
    @http.cert = OpenSSL::X509::Certificate.new(File.read(File.join(ssl, 'certs', 'localhost.pem')))
    @http.key = OpenSSL::PKey.read(File.read(File.join(ssl, 'private_keys', 'localhost.pem')))
  end

  # Keeps one connection for all requests of the block.
  #
  # @yieldparam client [PuppetClient]
  def connected
    @http.start { yield self }
  end

  # @param node [String]
  # @param environment [String]
  # @param facts [Hash, nil] the facts that an agent sends along
  # @return [Hash] the catalog
  # @raise [Refused] if it does not compile
  def catalog(node, environment:, facts: nil)
    request = Net::HTTP::Post.new("/puppet/v3/catalog/#{node}?environment=#{environment}",
                                  'Accept' => 'application/vnd.puppet.rich+json')
    request.set_form_data('environment' => environment, **(facts ? encoded(node, facts) : {}))
    JSON.parse(answer(request, Net::HTTPOK).body)
  end

  # @param node [String]
  # @param environment [String]
  # @param report [Hash]
  def report(node, report, environment:)
    request = Net::HTTP::Put.new("/puppet/v3/report/#{node}?environment=#{environment}",
                                 'Content-Type' => 'application/json', 'Accept' => 'application/json')
    request.body = JSON.generate(report)
    answer(request, Net::HTTPOK)
  end

  # @param path [String] of Puppetserver's administration
  def delete(path)
    answer(Net::HTTP::Delete.new(path), Net::HTTPNoContent)
  end

  private

  # Agents encode facts twice.
  def encoded(node, facts)
    text = JSON.generate('name' => node, 'values' => facts, 'timestamp' => Time.now.utc.iso8601(9))
    { 'facts_format' => 'application/json', 'facts' => ERB::Util.url_encode(text) }
  end

  def answer(request, expected)
    response = @http.request(request)
    raise Refused, response.body unless response.is_a?(expected)

    response
  end
end
