# frozen_string_literal: true

require 'erb'
require 'stringio'
require 'simpkv/server/api/batch_operations'
require 'simpkv/server/api/key_path'
require 'simpkv/server/application'

module Simpkv
  module Server
    module Api
      # Several keys in one request: /v1/keys:batch. Each operation is a request of its own, which is admitted and
      # answered as if it came alone: with the rights, the conditions and the audit log of one (docs/adr/0135).
      class KeyBatch < Application
        # The path, which needs no right: each operation does.
        PATH = '/v1/keys:batch'
        # Bytes of the answer, and seconds, after which operations are refused.
        BYTES = 16 * 1024 * 1024
        SECONDS = 30
        # What an operation has of the request: who asks, on which connection, and how to name it.
        KEPT = [Connection::KEY, Gate::CALLER, Observation::ID, 'rack.url_scheme', 'rack.errors', 'HTTP_HOST',
                'SERVER_NAME', 'SERVER_PORT', 'SERVER_PROTOCOL'].freeze
        private_constant :BYTES, :SECONDS, :KEPT

        route do |r|
          r.is do
            at(PATH)
            r.post { json('results' => results) }
          end
        end

        private

        def results
          @query = query(*KeyPath::PARAMETERS)
          refuse_conditions
          operations = BatchOperations.of(body(Hash))
          @bytes = 0
          ends = Clock.now + SECONDS
          operations.to_h { |operation| [operation['key'], result(operation, ends)] }
        end

        # @return [Hash{String => Object}] what the request alone would answer
        def result(operation, ends)
          refuse_late(ends)
          status, headers, parts = perform(request_of(operation))
          text = parts.join
          @bytes += text.bytesize
          body = { 'body' => Native.parse(text.force_encoding(Encoding::UTF_8)) } unless text.empty?
          { 'status' => status, **headers.slice('etag'), **body.to_h }
        rescue Problem, Error, ConfigError => e
          problem = Problem.of(e)
          { 'status' => problem.status, 'problem' => problem.body(env[Observation::ID]) }
        end

        def refuse_late(ends)
          raise Problem.new(503, "this operation was not begun within #{SECONDS} seconds") if Clock.now > ends
          return if @bytes <= BYTES

          raise Problem.new(413, "the answer has #{BYTES >> 20} MiB without this operation, which was not begun")
        end

        # @param env [Hash{String => Object}] whose path is not decoded yet
        # @return [Array] the response of Rack
        def perform(env)
          opts.fetch(:admit).call(env)
          opts.fetch(:keys).call(env)
        end

        # @return [Hash{String => Object}] the environment of Rack
        def request_of(operation)
          body = operation['op'] == 'put' ? Native.generate(operation['body']) : ''
          conditions = { 'HTTP_IF_MATCH' => operation['if_match'], 'HTTP_IF_NONE_MATCH' => operation['if_none_match'] }
          env.slice(*KEPT).merge(
            'REQUEST_METHOD' => operation['op'].upcase, 'SCRIPT_NAME' => '',
            'PATH_INFO' => "/v1/keys/#{ERB::Util.url_encode(operation['key'])}",
            'QUERY_STRING' => Rack::Utils.build_query(@query),
            'CONTENT_TYPE' => 'application/json', 'CONTENT_LENGTH' => body.bytesize.to_s,
            'rack.input' => StringIO.new(body.b), **conditions.compact
          )
        end
      end
    end
  end
end
