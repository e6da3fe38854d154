# frozen_string_literal: true

require 'simpkv/server/console/api'
require 'simpkv/server/console/form'
require 'simpkv/server/gate'
require 'simpkv/server/observation'
require 'simpkv/server/problem'

module Simpkv
  module Server
    module Console
      # The request for a page: who asks, its parameters and its form, the API as the caller may ask it; and the
      # response.
      class Visit
        # A key of the environment of Rack: the {Problem} of a request that is refused before it comes to a page.
        REFUSED = 'simpkv.refused'
        # Of requests that pages take.
        METHODS = %w[GET HEAD POST].freeze
        # The parameter that names the notice of what a form has done, and the seconds for which a page shows it.
        NOTICE = 'notice'
        NOTICE_SECONDS = 60
        private_constant :METHODS, :NOTICE, :NOTICE_SECONDS

        # @return [Roda::RodaRequest]
        attr_reader :request

        # @return [Roda::RodaResponse]
        attr_reader :response

        # @return [String, nil] the name of the notice that a form of the caller has just led to; nil for none
        attr_reader :notice

        # @param request [Roda::RodaRequest]
        # @param response [Roda::RodaResponse]
        # @param gate [Gate] of the API
        def initialize(request, response, gate)
          @request = request
          @response = response
          @gate = gate
          @read = []
        end

        # Refuses a request that no page takes, and takes the notice out of the address.
        #
        # @return [void]
        # @raise [Problem]
        def check
          raise request.env[REFUSED] if request.env[REFUSED]

          check_method
          check_parameters
          form.check if request.post?
          leave_slash unless request.post?
          @notice = take_notice
        end

        # @return [Api] asked as the caller of the page
        def api
          @api ||= Api.new(@gate, request.env)
        end

        # @return [Form] that was sent
        def form
          @form ||= Form.new(request)
        end

        # @return [Array<String>] of the path
        def segments
          request.env.fetch(Gate::SEGMENTS)
        end

        # @return [Array<String>] as {#segments}; none for a request that was refused before its path was read
        def names
          request.env.fetch(Gate::SEGMENTS, [])
        end

        # @return [Caller]
        def caller
          request.env.fetch(Gate::CALLER)
        end

        # @return [Caller, nil] who the page names as its reader; nil if the request may come from a page of another
        #   site, or if nobody knows who sends it
        def reader
          caller unless request.env[REFUSED] || caller.kind == :nobody
        end

        # @return [SignIn::Client] who signs in or out
        def client
          connection = request.env.fetch(Connection::KEY)
          Server::SignIn::Client.new(connection.peer, connection.peer_name, id)
        end

        # @return [SignIn, nil] nil if nobody can sign in
        def sign_in
          @gate.sign_in
        end

        # @return [String] the id of the request in the log
        def id
          request.env.fetch(Observation::ID)
        end

        # @param name [String] of a parameter of the query
        # @return [String] what it is; empty for nothing
        # @raise [Problem] it is no text
        def given(name)
          @read << name
          value = request.GET[name]
          return value.to_s if value.nil? || value.is_a?(String)

          raise Problem.new(400, "the parameter '#{name}' must be a text")
        end

        # @param name [String]
        # @return [String, nil] as {#given}; nil for an empty one
        def parameter(name)
          value = given(name)
          value unless value.empty?
        end

        # As {#given}, and takes the parameter out of the address, so that no link of the page has it.
        #
        # @param name [String]
        # @return [String]
        def take(name)
          given(name).tap { request.GET.delete(name) }
        end

        # @param name [String] of a parameter of the query
        # @param default [Integer]
        # @param range [Range<Integer>]
        # @return [Integer] it; the default if it is empty
        # @raise [Problem] it is no whole number of this range
        def number(name, default, range)
          Form.whole(given(name), "the parameter '#{name}'", default, range)
        end

        # @return [String] the address of this page with other parameters; nil removes one. Of the parameters of the
        #   request, it has those that the page has read by {#given}: links omit parameters that the page ignores
        def here(**changes)
          address(request.GET.slice(*@read).merge(changes.transform_keys(&:to_s)).compact)
        end

        # Leads the browser to a page, after a form has changed something.
        #
        # @param path [String]
        # @return [void]
        def go_to(path)
          request.redirect(path, 303)
        end

        # As {#go_to}, with a notice of what a form has done. Others cannot make such an address.
        #
        # @param address [String]
        # @param name [String] of the notice
        # @return [void]
        def go_with_notice(address, name)
          time = Time.now.to_i.to_s
          mark = [name, time, form.signature(name, time, address)].join('.')
          go_to("#{address}#{address.include?('?') ? '&' : '?'}#{NOTICE}=#{mark}")
        end

        private

        # @raise [Problem] 405
        def check_method
          method = request.request_method
          return if METHODS.include?(method)

          raise Problem.new(405, "pages do not take #{method}: scripts use the API, below /v1",
                            headers: { 'allow' => METHODS.join(', ') })
        end

        # @raise [Problem] the query of the address cannot be read, or is not UTF-8
        def check_parameters
          malformed unless Form.utf8?(request.GET)
        rescue Rack::BadRequest, ArgumentError
          malformed
        end

        def malformed
          raise Problem.new(400, 'malformed query'), cause: nil
        end

        # A page has one address. Only those of folders of keys have a slash at their end.
        def leave_slash
          return if segments.empty? || segments.first == 'keys' || !request.path.end_with?('/')

          query = request.query_string
          request.redirect("#{Api.path(*segments)}#{"?#{query}" unless query.empty?}", 301)
        end

        # @param query [Hash{String => Object}]
        # @return [String] the address of this page with these parameters
        def address(query)
          path = Api.path(*segments)
          path += '/' if request.path.end_with?('/')
          query.empty? ? path : "#{path}?#{Rack::Utils.build_query(query)}"
        end

        def take_notice
          name, time, signature = take(NOTICE).split('.')
          return unless signature && form.signed?(signature, name, time, address(request.GET))

          name if Time.now.to_i - time.to_i <= NOTICE_SECONDS
        end
      end
    end
  end
end
