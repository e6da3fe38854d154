# frozen_string_literal: true

require 'rack/deflater'
require 'simpkv/server/api/json_only'
require 'simpkv/server/api/pdb_query'
require 'simpkv/server/api/pdb_status'
require 'simpkv/server/application'
require 'simpkv/server/queries'

module Simpkv
  module Server
    module Api
      # The queries of PuppetDB's API, /pdb, and what it tells of itself.
      class Pdb < Application
        include JsonOnly

        # Bytes of a smaller answer need no compression: it is one packet.
        SMALL = 1400
        FORM = 'application/x-www-form-urlencoded'
        # A key of the environment of Rack: whether the answer has details of reports.
        DETAILS = 'simpkv.report_details'
        private_constant :SMALL, :FORM, :DETAILS

        # Only these answers, and not those with details of reports: the index has no secrets (docs/adr/0117).
        use Rack::Deflater, sync: false, if: lambda { |env, _status, headers, _body|
          headers['content-length'].to_i > SMALL && !env[DETAILS]
        }

        route do |r|
          r.on('query') { find(r) }
          r.on('meta/v1') { meta(r) }
        end

        private

        def find(request)
          demand_json
          version, *segments = env.fetch(Gate::SEGMENTS).drop(2)
          retired(version)
          return unless version == 'v4'

          at(segments.empty? ? '/pdb/query/v4' : '/pdb/query/v4/{entity}')
          query = PdbQuery.new(segments, parameters(request))
          answer = ask(query)
          return missing(answer) if answer.missing

          env[DETAILS] = answer.details
          headers = { 'content-type' => 'application/json;charset=utf-8', 'content-length' => answer.bytes.to_s }
          headers['x-records'] = answer.total.to_s if answer.total
          request.halt([200, headers, answer.file])
        end

        # @param query [PdbQuery]
        # @return [Query::Workers::Answer]
        def ask(query)
          details = estate_of_details
          raise no_details('the log of a report') if query.details? && details.nil?

          query.await(queries)
          env[Queries::BEHIND] = queries.behind
          queries.ask(query.question, details)
        end

        def retired(version)
          return unless %w[v1 v2 v3].include?(version)

          raise Problem.new(404, "The #{version} API has been retired; please use v4")
        end

        # @return [Hash{String => Object}]
        def parameters(request)
          case request.request_method
          when 'GET', 'HEAD' then texts.merge(form(request))
          when 'POST' then posted
          else raise Problem.new(400, 'PuppetDB queries must be made via GET/POST')
          end
        end

        # Clients in Ruby send the parameters of a GET as a form in its body. PuppetDB takes them, too.
        def form(request)
          request.media_type == FORM ? texts(request.body.read) : {}
        end

        # A body without a type is JSON, as for PuppetDB. {Gate} refuses pages of other sites.
        def posted
          type = request.media_type
          raise Problem.new(415, "content type #{type} not supported") unless [nil, 'application/json'].include?(type)

          text = request.body ? request.body.read.to_s : ''
          data = text.strip.empty? ? {} : BodyJson.parse(text)
          return texts.merge(data) if data.is_a?(Hash)

          raise Problem.new(400, 'the body must be an object in JSON')
        end

        # @return [String] the body of the response
        def missing(answer)
          answer.file.close
          json({ 'error' => "No information is known about #{answer.missing}" }, 404)
        end

        def meta(request)
          demand_json
          request.is('version') do
            at('/pdb/meta/v1/version')
            request.get { json('version' => PdbStatus::VERSION) }
          end
          request.is('version/latest') do
            at('/pdb/meta/v1/version/latest')
            request.get { json('newer' => false, 'version' => PdbStatus::VERSION, 'link' => nil) }
          end
          request.is('server-time') do
            at('/pdb/meta/v1/server-time')
            request.get { json('server_time' => Time.now.utc.iso8601(3)) }
          end
        end
      end
    end
  end
end
