# frozen_string_literal: true

require 'erb'
require 'rack'
require 'stringio'
require 'simpkv/server/gate'
require 'simpkv/server/observation'
require 'simpkv/server/problem'
require 'simpkv/server/queries'

module Simpkv
  module Server
    module Console
      # The API, as a page asks it: without a connection of its own, with the rights of the page's caller.
      class Api
        # What an inner request has of the one for the page: who asks, on which connection, and how to name it.
        KEPT = [Connection::KEY, Gate::CALLER, 'puma.peercert', Observation::ID, 'rack.url_scheme', 'rack.errors',
                'HTTP_HOST', 'SERVER_NAME', 'SERVER_PORT', 'SERVER_PROTOCOL'].freeze
        # Bytes of an answer that a page reads into memory.
        BYTES_MAX = 32 * 1024 * 1024
        private_constant :KEPT, :BYTES_MAX

        # - `status`: of HTTP
        # - `headers`: by name, in lower case
        # - `text`: the body
        Answer = Struct.new(:status, :headers, :text) do
          # @return [Object] the body, JSON
          def data
            Native.parse(text)
          end
        end

        # - `rows`: of the answer to a query
        # - `total`: their number on all pages; nil if it was not asked for
        Found = Struct.new(:rows, :total)

        # @param segments [Array<String>] of a path, not escaped
        # @return [String] the path. Characters that mean something in a path or after it are escaped, such as / ? # % ;
        def self.path(*segments)
          segments.map { |segment| "/#{ERB::Util.url_encode(segment)}" }.join
        end

        # @return [Queries::Behind, nil] whether an answer came from an index that does not follow the store
        attr_reader :behind

        # @param gate [Gate] of the API
        # @param env [Hash{String => Object}] of the request for the page
        def initialize(gate, env)
          @gate = gate
          @env = env
        end

        # @param path [String] escaped: see {path}
        # @param query [Hash{String => Object}] the parameters; those that are nil are left out
        # @return [Object] the data of the answer
        # @raise [Problem, Error] the API refuses
        def get(path, query = {})
          request('GET', path, query: query).data
        end

        # Asks the index. With a limit, it counts all rows only if the answer does not tell their number: that takes as
        # long as the query.
        #
        # @param entity [String, nil] such as `nodes`; nil for a query in PQL
        # @param query [Array, String, nil] the condition or an extract, or PQL
        # @param order [Array<Array(String, String)>] pairs of the name of a field, and asc or desc
        # @param limit [Integer, nil] rows of a page; nil for all, of which `total` is not counted
        # @param offset [Integer]
        # @param count [Boolean] whether to count all rows. If not, `total` is nil, and `rows` has one more than the
        #   limit if there are more
        # @return [Found]
        # @raise [Problem, Error] the API refuses, or there is no index
        def find(entity, query = nil, order: [], limit: nil, offset: 0, count: true)
          asked = { 'query' => query.is_a?(Array) ? Native.generate(query) : query }
          sorted = asked.merge(order_by(order))
          return Found.new(answer(entity, sorted).data) unless limit

          rows = answer(entity, sorted.merge('limit' => limit + 1, 'offset' => offset)).data
          return Found.new(rows) unless count

          last = rows.length.between?(offset.zero? ? 0 : 1, limit)
          Found.new(rows.first(limit), last ? offset + rows.length : total(entity, asked))
        end

        # Asks for the right only: for a page that has work to do before it sends the request.
        #
        # @param method [String]
        # @param path [String] escaped
        # @return [void]
        # @raise [Problem] 403
        def check(method, path)
          @gate.admit(inner(method, path, {}, ''))
        end

        # @return [Rights] for what a page offers. The API decides when a request comes
        def rights
          @gate.rights
        end

        # @param method [String]
        # @param path [String] escaped
        # @param query [Hash{String => Object}] as for {#get}
        # @param data [Object, nil] the body, sent as JSON
        # @param headers [Hash{String => String}] as Rack names them, such as HTTP_IF_MATCH
        # @return [Answer] with a status below 400
        # @raise [Problem, Error] the API refuses
        def request(method, path, query: {}, data: nil, headers: {})
          body = data.nil? ? '' : Native.generate(data)
          inner = inner(method, path, query, body).merge(headers)
          status, headers, parts = @gate.call(inner)
          @behind ||= inner[Queries::BEHIND]
          text = text_of(headers, parts)
          raise problem(status, text) if status >= 400

          Answer.new(status, headers, text.force_encoding(Encoding::UTF_8))
        end

        private

        def answer(entity, query)
          request('GET', self.class.path('pdb', 'query', 'v4', *entity), query: query)
        end

        def order_by(order)
          fields = order.map { |field, direction| { 'field' => field, 'order' => direction } }
          fields.empty? ? {} : { 'order_by' => Native.generate(fields) }
        end

        def total(entity, query)
          counted = answer(entity, query.merge('limit' => 1, 'include_total' => true))
          Integer(counted.headers.fetch('x-records'), 10)
        end

        def inner(method, path, query, body)
          @env.slice(*KEPT).merge(
            'REQUEST_METHOD' => method, 'SCRIPT_NAME' => '', 'PATH_INFO' => path,
            'QUERY_STRING' => Rack::Utils.build_query(query.compact),
            'CONTENT_TYPE' => 'application/json', 'CONTENT_LENGTH' => body.bytesize.to_s,
            'HTTP_ACCEPT' => 'application/json', 'rack.input' => StringIO.new(body.b)
          )
        end

        # @param parts [#each] of the body
        # @return [String]
        # @raise [Problem] it is too large
        def text_of(headers, parts)
          if headers['content-length'].to_i > BYTES_MAX
            raise Problem.new(413, "the answer has more than #{BYTES_MAX >> 20} MiB, too much for a page: ask for less")
          end

          text = +''
          parts.each { |part| text << part }
          text
        ensure
          parts.close if parts.respond_to?(:close)
        end

        # The application answers some requests with a problem in place of raising one.
        def problem(status, text)
          data = Native.parse(text)
          return Problem.new(status, text) unless data.is_a?(Hash)

          Problem.new(status, (data['detail'] || data['error']).to_s, key: data['key'])
        rescue MalformedError
          Problem.new(status, text)
        end
      end
    end
  end
end
