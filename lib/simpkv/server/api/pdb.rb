# frozen_string_literal: true

require 'simpkv/server/api/pdb_query'

module Simpkv
  module Server
    # The API of PuppetDB: /pdb.
    class Application
      hash_branch('pdb') do |r|
        r.on('query') { pdb_query(r) }
        r.on('meta/v1') { pdb_meta(r) }
        r.on('cmd/v1') { pdb_commands(r) }
      end

      private

      def pdb_query(request)
        version, *segments = env.fetch(Gate::SEGMENTS).drop(2)
        retired(version)
        return unless version == 'v4'

        at(segments.empty? ? '/pdb/query/v4' : '/pdb/query/v4/{entity}')
        query = Api::PdbQuery.new(segments, pdb_parameters(request))
        answer = pdb_answer(query)
        return pdb_missing(answer) if answer.missing

        headers = { 'content-type' => 'application/json;charset=utf-8', 'content-length' => answer.bytes.to_s }
        headers['x-records'] = answer.total.to_s if answer.total
        request.halt([200, headers, answer.file])
      end

      # @param query [Api::PdbQuery]
      # @return [Query::Workers::Answer]
      def pdb_answer(query)
        env[Queries::BEHIND] = queries.behind
        queries.ask(query.question)
      end

      def retired(version)
        return unless %w[v1 v2 v3].include?(version)

        raise Problem.new(404, "The #{version} API has been retired; please use v4")
      end

      # @return [Hash{String => Object}]
      def pdb_parameters(request)
        case request.request_method
        when 'GET', 'HEAD' then texts
        when 'POST' then pdb_body
        else raise Problem.new(400, 'PuppetDB queries must be made via GET/POST')
        end
      end

      # A page of another site cannot send this type without being asked.
      def pdb_body
        type = request.media_type
        raise Problem.new(415, "content type #{type || 'of the body'} not supported") unless type == 'application/json'

        text = request.body ? request.body.read.to_s : ''
        data = text.strip.empty? ? {} : BodyJson.parse(text)
        return texts.merge(data) if data.is_a?(Hash)

        raise Problem.new(400, 'the body must be an object in JSON')
      rescue MalformedError
        raise Problem.new(400, 'Json parse error: the body is not JSON'), cause: nil
      end

      # @return [String] the body of the response
      def pdb_missing(answer)
        answer.file.close
        json({ 'error' => "No information is known about #{answer.missing}" }, 404)
      end

      # @return [Queries]
      # @raise [Problem] this service answers none
      def queries
        opts.fetch(:queries) || raise(Problem.new(503, "this service answers no queries: 'query_workers' is 0"))
      end

      def pdb_meta(request)
        request.is('version') do
          at('/pdb/meta/v1/version')
          request.get { json('version' => Api::PdbStatus::VERSION) }
        end
        request.is('version/latest') do
          at('/pdb/meta/v1/version/latest')
          request.get { json('newer' => false, 'version' => Api::PdbStatus::VERSION, 'link' => nil) }
        end
        request.is('server-time') do
          at('/pdb/meta/v1/server-time')
          request.get { json('server_time' => Time.now.utc.iso8601(3)) }
        end
      end
    end
  end
end
