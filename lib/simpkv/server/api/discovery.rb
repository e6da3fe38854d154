# frozen_string_literal: true

require 'simpkv/server/api/version'

module Simpkv
  module Server
    # The documents by which clients find the API: /, /v1 and /openapi.json.
    class Application
      hash_branch('v1') do |r|
        r.is(['', true]) do
          at('/v1')
          r.get do
            query
            Api::Version.check(env)
            json(v1)
          end
        end
        r.hash_branches('/v1')
      end

      hash_branch('openapi.json') do |r|
        r.is do
          at('/openapi.json')
          r.get { json(OpenApi.document) }
        end
      end

      # @return [Hash] the answer of GET /
      def versions
        version = Api::Version.description(base_url)
        { 'name' => 'simpkv', 'description' => 'The store of a Puppet estate', 'versions' => [version],
          'default_version' => version, 'links' => [{ 'href' => "#{base_url}/openapi.json", 'rel' => 'service-desc' }] }
      end

      # @return [Hash] the answer of GET /v1
      def v1
        resources = %w[inspection_rules keys nodes].to_h do |name|
          [name, [{ 'href' => "#{base_url}/v1/#{name}/", 'rel' => 'self' },
                  { 'href' => "#{base_url}/#{name}/", 'rel' => 'bookmark' }]]
        end
        version = Api::Version.description(base_url)
        description = { 'href' => "#{base_url}/openapi.json", 'rel' => 'describedby' }
        { 'id' => 'v1', 'links' => [*version['links'], description],
          'media_types' => [{ 'base' => 'application/json', 'type' => 'application/json' }], **resources,
          'version' => version }
      end
    end
  end
end
