# frozen_string_literal: true

require 'roda'
require 'simpkv/server/api/conditions'
require 'simpkv/server/body_json'
require 'simpkv/server/observation'
require 'simpkv/server/problem'

module Simpkv
  module Server
    # What the applications of the API have in common: see {Api}. {Gate} has checked the caller and decoded the path.
    class Application < Roda
      # A name or an address, with a port if needed.
      HOST = /\A(?:[\w.-]+|\[[\h:.]+\])(?::\d{1,5})?\z/.freeze
      # How messages name types of JSON.
      TYPES = { Hash => 'an object', Array => 'a list', String => 'a text' }.freeze
      private_constant :HOST

      plugin :all_verbs
      plugin :default_headers
      plugin :drop_body
      plugin :head
      plugin :not_allowed
      plugin :status_handler

      # Roda would call a response without a body HTML.
      opts[:default_headers] = {}.freeze

      status_handler(404) { problem(Problem.new(404, "there is no #{request.path}")) }
      status_handler(405, keep_headers: ['Allow']) do
        # Roda answers HEAD where it answers GET, and lists the latter only.
        response['allow'] = response['allow'].sub(/\bGET\b/, 'GET, HEAD')
        problem(Problem.new(405, "#{request.path} does not take #{request.request_method}"))
      end

      # @return [Site]
      def site
        opts.fetch(:site)
      end

      # @return [Rights]
      def rights
        opts.fetch(:rights).call
      end

      # @return [Estate]
      def estate
        @estate ||= site.estate(caller)
      end

      # @return [Inspection::Rules] with the actions of the site, which the service does not carry out
      def rules
        @rules ||= Inspection::Rules.new(estate, Inspection::ActionFiles.usual.names)
      end

      # @return [Queries]
      # @raise [Problem] this service answers none
      def queries
        opts.fetch(:queries) || raise(Problem.new(503, "this service answers no queries: 'query_workers' is 0"))
      end

      # @return [Estate, nil] from which answers to queries have logs of reports and values of events; nil for a caller
      #   who may not see them
      def estate_of_details
        rights.report_details?(caller) ? estate : nil
      end

      # @param what [String] that has them
      # @return [Problem]
      def no_details(what)
        Problem.new(403, Rights.refusal(caller, 'GET', "#{what}, which needs the right to read /v1/report_details/**"))
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

      # Refuses parameters.
      #
      # @yieldreturn [Object]
      # @return [Object] what the block returns
      # @raise [Problem]
      def plain
        query
        yield
      end

      # @param form [String] a query, or a form
      # @return [Hash{String => String}] the parameters
      # @raise [Problem] one is no text, or is given twice
      def texts(form = request.query_string)
        # Before Rack makes one of several, or an object of `name[x]`.
        given = Rack::Utils.parse_query(form)
        wrong = given.find { |_, value| !value.is_a?(String) || !value.valid_encoding? }
        raise Problem.new(400, "the parameter '#{wrong.first.scrub}' must be given once, with a text") if wrong

        given
      rescue ArgumentError, Rack::QueryParser::QueryLimitError => e
        raise Problem.malformed_parameters(e, 'query'), cause: nil
      end

      # Refuses a condition on something that has no entity tag: no condition is ignored.
      #
      # @return [void]
      # @raise [Problem] 412
      def refuse_conditions
        return if %w[GET HEAD].include?(request.request_method) || !Api::Conditions.new(env).given?

        raise Problem.new(412, "#{request.path} has no entity tag: send no If-Match and no If-None-Match")
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
        _, headers, body = problem.response(env[Observation::ID], request.path, Api::Version.error_type(env))
        headers.each { |name, value| response[name] = value }
        body.first
      end
    end
  end
end
