# frozen_string_literal: true

require 'roda'
require 'uri'
require 'simpkv/server/body_json'
require 'simpkv/server/observation'
require 'simpkv/server/problem'

module Simpkv
  module Server
    # The routes. {Gate} has checked the caller and decoded the path. Each file of the folder `api` adds a branch.
    class Application < Roda
      # A name or an address, with a port if needed.
      HOST = /\A(?:[\w.-]+|\[[\h:.]+\])(?::\d{1,5})?\z/.freeze
      # How messages name types of JSON.
      TYPES = { Hash => 'an object', Array => 'a list', String => 'a text' }.freeze
      private_constant :HOST, :TYPES

      plugin :all_verbs
      plugin :default_headers
      plugin :drop_body
      plugin :hash_branches
      plugin :head
      plugin :not_allowed
      plugin :status_handler

      # Roda would call a response without a body HTML.
      opts[:default_headers] = {}.freeze

      status_handler(404) { problem(Problem.new(404, "there is no #{request.path_info}")) }
      status_handler(405, keep_headers: ['Allow']) do
        # Roda answers HEAD where it answers GET, and lists the latter only.
        response['allow'] = response['allow'].sub(/\bGET\b/, 'GET, HEAD')
        problem(Problem.new(405, "#{request.path_info} does not take #{request.request_method}"))
      end

      route do |r|
        r.root do
          at('/')
          query
          json(versions)
        end
        r.hash_branches('')
      end

      # @return [Site]
      def site
        opts.fetch(:site)
      end

      # @return [Rights]
      def rights
        opts.fetch(:rights).call
      end

      # @return [Metrics]
      def metrics
        opts.fetch(:metrics)
      end

      # @return [Caller]
      def caller
        env.fetch(Gate::CALLER)
      end

      # Names the route for metrics.
      def at(pattern)
        env[Observation::ROUTE] = pattern
      end

      # Checks the parameters of the query.
      #
      # @param names [Array<String>] the known ones
      # @return [Hash{String => String}]
      # @raise [Problem] one is unknown, or no text
      def query(*names)
        given = texts
        unknown = (given.keys - names).first
        return given unless unknown

        known = names.empty? ? 'none is known' : names.join(', ')
        raise Problem.new(400, "unknown parameter '#{unknown.scrub}': #{known}")
      end

      # @return [Hash{String => String}] the parameters of the query
      # @raise [Problem] one is no text, or is given twice
      def texts
        # Before Rack makes one of several, or an object of `name[x]`.
        given = Rack::Utils.parse_query(request.query_string)
        wrong = given.find { |_, value| !value.is_a?(String) || !value.valid_encoding? }
        raise Problem.new(400, "the parameter '#{wrong.first.scrub}' must be given once, with a text") if wrong

        given
      rescue ArgumentError, Rack::QueryParser::QueryLimitError
        raise Problem.new(400, 'malformed query'), cause: nil
      end

      # Refuses a condition on something that has no entity tag: no condition is ignored.
      #
      # @return [void]
      # @raise [Problem] 412
      def refuse_conditions
        return if %w[GET HEAD].include?(request.request_method) || !Api::Conditions.new(env).given?

        raise Problem.new(412, "#{request.path_info} has no entity tag: send no If-Match and no If-None-Match")
      end

      # @param name [String] of a parameter
      # @param default [Boolean]
      # @return [Boolean]
      # @raise [Problem]
      def flag(name, default = false) # rubocop:disable Style/OptionalBooleanParameter
        text = request.GET[name]
        return default if text.nil?

        case text.downcase
        when 'true', '1', 'yes' then true
        when 'false', '0', 'no' then false
        else raise Problem.new(400, "the parameter '#{name}' must be true or false")
        end
      end

      # @return [Boolean] whether the answer is to have the member `errors`, about what cannot be read
      # @raise [Problem]
      def errors_returned?
        text = request.GET['errors']
        return text == 'return' if [nil, 'return'].include?(text)

        raise Problem.new(400, "the parameter 'errors' must be return")
      end

      # Reads the body, JSON.
      #
      # @param types [Array<Class>] of the data
      # @return [Object]
      # @raise [Problem] it is no JSON, or of another type
      def body(*types)
        text = request.body ? request.body.read.to_s : ''
        data = BodyJson.parse(text)
        return data if types.any? { |type| data.is_a?(type) }

        wanted = types.map { |type| TYPES.fetch(type) }
        raise Problem.new(400, "the body must be #{wanted.join(' or ')} in JSON")
      rescue MalformedError
        raise Problem.new(400, 'the body is not JSON'), cause: nil
      end

      # @param data [Object]
      # @return [String] the body of the response
      def json(data, status = 200)
        response.status = status
        response['content-type'] = 'application/json'
        Native.generate(data)
      end

      # @return [String] no body
      def no_content
        response.status = 204
        ''
      end

      # @return [String] the address of the service as the client has written it in the header Host. No proxy stands
      #   before the service: a header such as X-Forwarded-Host is the client's own
      def base_url
        host = env['HTTP_HOST'].to_s
        "#{env['rack.url_scheme']}://#{host.match?(HOST) ? host : 'localhost'}"
      end

      private

      def problem(problem)
        _, headers, body = problem.response(env[Observation::ID], request.path_info)
        headers.each { |name, value| response[name] = value }
        body.first
      end
    end
  end
end

require 'simpkv/server/api/access'
require 'simpkv/server/api/backends'
require 'simpkv/server/api/discovery'
require 'simpkv/server/api/inspection_rules'
require 'simpkv/server/api/keys'
require 'simpkv/server/api/nodes'
require 'simpkv/server/api/pdb'
require 'simpkv/server/api/pdb_commands'
require 'simpkv/server/api/pdb_status'
require 'simpkv/server/api/status'
require 'simpkv/server/api/health'
