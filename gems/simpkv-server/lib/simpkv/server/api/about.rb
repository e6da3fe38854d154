# frozen_string_literal: true

require 'simpkv/server/api/version'
require 'simpkv/server/application'
require 'simpkv/server/metrics'
require 'simpkv/server/open_api'

module Simpkv
  module Server
    module Api
      # The documents by which clients find the API, /, /v1 and /openapi.json; and the state of the service, /healthz,
      # /readyz and /metrics.
      class About < Application
        # The first segments of its paths.
        PATHS = %w[v1 openapi.json healthz readyz metrics].freeze

        route do |r|
          r.root do
            at('/')
            json(plain { versions })
          end
          r.is('v1', ['', true]) do
            at('/v1')
            r.get { json(plain { v1 }) }
          end
          r.is(%w[openapi.json healthz readyz metrics]) do |name|
            at("/#{name}")
            r.get { state(name) }
          end
        end

        private

        # @return [Hash] the answer of GET /
        def versions
          version = Version.description(base_url)
          links = [{ 'href' => "#{base_url}/openapi.json", 'rel' => 'service-desc' }]
          { 'name' => 'simpkv', 'description' => 'The store of a Puppet estate', 'versions' => [version],
            'default_version' => version, 'links' => links }
        end

        # @return [Hash] the answer of GET /v1
        def v1
          Version.check(env)
          resources = %w[inspection_rules keys nodes].to_h do |name|
            [name, [{ 'href' => "#{base_url}/v1/#{name}/", 'rel' => 'self' },
                    { 'href' => "#{base_url}/#{name}/", 'rel' => 'bookmark' }]]
          end
          version = Version.description(base_url)
          description = { 'href' => "#{base_url}/openapi.json", 'rel' => 'describedby' }
          { 'id' => 'v1', 'links' => [*version['links'], description],
            'media_types' => [{ 'base' => 'application/json', 'type' => 'application/json' }], **resources,
            'version' => version }
        end

        # @return [String] the body of the response
        def state(name)
          case name
          when 'openapi.json' then json(OpenApi.document)
          when 'healthz' then json('status' => 'ok')
          when 'readyz' then readiness
          when 'metrics'
            response['content-type'] = Metrics::CONTENT_TYPE
            opts.fetch(:metrics).text(site, caller)
          end
        end

        def readiness
          ready, parts = opts.fetch(:readiness).check(details: rights.findings?(caller))
          response['retry-after'] = Problem::RETRY_AFTER unless ready
          json({ 'status' => ready ? 'ok' : 'unavailable', **parts }, ready ? 200 : 503)
        end
      end
    end
  end
end
