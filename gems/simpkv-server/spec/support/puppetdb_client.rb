# frozen_string_literal: true

require 'json'
require 'net/http'
require 'securerandom'
require 'time'
require 'uri'

class PuppetDB
  # A client of PuppetDB's commands and queries over HTTP, with one connection.
  class Client
    # Seconds that a command may take.
    COMMAND_SECONDS = 120

    # PuppetDB has refused a request; the message says why.
    class Refused < StandardError; end

    # @param uri [String] http://127.0.0.1:PORT
    def initialize(uri)
      uri = URI(uri)
      @http = Net::HTTP.new(uri.host, uri.port, nil)
      @http.read_timeout = COMMAND_SECONDS + 30
      @http.keep_alive_timeout = 30
      @http.start
    end

    # @return [void]
    def close
      @http.finish
    end

    # Stores the facts of a node.
    #
    # @param values [Hash{String => Object}]
    # @param at [Time] the time of the run
    # @param wait [Boolean] whether to wait until queries return them
    # @param more [Hash{String => Object}] further members of the command
    def replace_facts(certname, values, environment: 'production', at: Time.now, wait: true, more: {})
      payload = { 'certname' => certname, 'environment' => environment, 'producer_timestamp' => at.utc.iso8601(3),
                  'producer' => 'puppet', 'values' => values }.merge(more)
      submit('replace facts', 5, certname, payload, wait: wait)
    end

    # Stores a catalog of a node.
    #
    # @param resources [Array<Hash>] see {PuppetDB.exported}
    # @param wait [Boolean] whether to wait until queries return it
    def replace_catalog(certname, resources, environment: 'production', wait: true)
      now = Time.now.utc
      payload = { 'certname' => certname, 'version' => now.to_i.to_s, 'environment' => environment, 'code_id' => nil,
                  'transaction_uuid' => SecureRandom.uuid, 'catalog_uuid' => SecureRandom.uuid, 'job_id' => nil,
                  'producer_timestamp' => now.iso8601(3), 'producer' => 'puppet', 'edges' => [],
                  'resources' => resources }
      submit('replace catalog', 9, certname, payload, wait: wait)
    end

    # Deactivates a node.
    def deactivate(certname, at: Time.now)
      payload = { 'certname' => certname, 'producer_timestamp' => at.utc.iso8601(3) }
      submit('deactivate node', 3, certname, payload)
    end

    # @param path [String] such as `/pdb/query/v4/nodes`
    # @param parameters [Hash{String => String}]
    # @return [Net::HTTPResponse]
    def get(path, parameters)
      @http.get("#{path}?#{URI.encode_www_form(parameters)}")
    end

    # @param entity [String] such as `resources`
    # @param query [Array] in PuppetDB's query language
    # @return [Array<Hash>]
    def query(entity, query)
      request("/pdb/query/v4/#{entity}", 'query' => JSON.generate(query))
    end

    # @param text [String] in PQL
    # @return [Array] the query in PuppetDB's query language; PuppetDB also checks its names
    def ast(text)
      request('/pdb/query/v4', 'query' => text, 'ast_only' => true)
    end

    # Submits a command.
    #
    # @param wait [Boolean] whether to wait until PuppetDB has carried it out
    def submit(name, version, certname, payload, wait: true)
      parameters = { 'command' => name.tr(' ', '_'), 'version' => version, 'certname' => certname }
      parameters['secondsToWaitForCompletion'] = COMMAND_SECONDS if wait
      answer = request('/pdb/cmd/v1', parameters, JSON.generate(payload))
      raise Refused, "#{name} of #{certname}: #{answer}" if wait && !answer['processed']
    end

    private

    # @return [Object] the parsed answer
    def request(path, parameters, body = nil)
      place = "#{path}?#{URI.encode_www_form(parameters)}"
      answer = body ? @http.post(place, body, 'Content-Type' => 'application/json') : @http.get(place)
      raise Refused, "#{path}: #{answer.code} #{answer.body}" unless answer.is_a?(Net::HTTPOK)

      JSON.parse(answer.body)
    end
  end
end
