# frozen_string_literal: true

require 'simpkv/server/api/pdb_query'
require 'simpkv/server/api/pdb_status'
require 'simpkv/server/application'
require 'simpkv/server/queries'

module Simpkv
  module Server
    module Api
      # The queries of PuppetDB's API, /pdb, and what it tells of itself.
      class Pdb < Application
        route do |r|
          r.on('query') { find(r) }
          r.on('meta/v1') { meta(r) }
        end

        private

        def find(request)
          version, *segments = env.fetch(Gate::SEGMENTS).drop(2)
          retired(version)
          return unless version == 'v4'

          at(segments.empty? ? '/pdb/query/v4' : '/pdb/query/v4/{entity}')
          query = PdbQuery.new(segments, parameters(request))
          answer = ask(query)
          return missing(answer) if answer.missing

          headers = { 'content-type' => 'application/json;charset=utf-8', 'content-length' => answer.bytes.to_s }
          headers['x-records'] = answer.total.to_s if answer.total
          request.halt([200, headers, answer.file])
        end

        # @param query [PdbQuery]
        # @return [Query::Workers::Answer]
        def ask(query)
          env[Queries::BEHIND] = queries.behind
          queries.ask(query.question)
        end

        def retired(version)
          return unless %w[v1 v2 v3].include?(version)

          raise Problem.new(404, "The #{version} API has been retired; please use v4")
        end

        # @return [Hash{String => Object}]
        def parameters(request)
          case request.request_method
          when 'GET', 'HEAD' then texts
          when 'POST' then posted
          else raise Problem.new(400, 'PuppetDB queries must be made via GET/POST')
          end
        end

        # A page of another site cannot send this type without being asked.
        def posted
          type = request.media_type
          raise Problem.new(415, "content type #{type || 'of the body'} not supported") if type != 'application/json'

          text = request.body ? request.body.read.to_s : ''
          data = text.strip.empty? ? {} : BodyJson.parse(text)
          return texts.merge(data) if data.is_a?(Hash)

          raise Problem.new(400, 'the body must be an object in JSON')
        rescue MalformedError
          raise Problem.new(400, 'Json parse error: the body is not JSON'), cause: nil
        end

        # @return [String] the body of the response
        def missing(answer)
          answer.file.close
          json({ 'error' => "No information is known about #{answer.missing}" }, 404)
        end

        def meta(request)
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
