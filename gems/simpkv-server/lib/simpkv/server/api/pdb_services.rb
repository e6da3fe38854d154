# frozen_string_literal: true

require 'simpkv/server/api/pdb_status'
require 'simpkv/server/application'

module Simpkv
  module Server
    module Api
      # The status API of PuppetDB: /status/v1.
      class PdbServices < Application
        route do |r|
          r.on('services') { services(r) }
          r.on('simple') { simple(r) }
        end

        private

        def services(request)
          request.get(['', true]) do
            at('/status/v1/services')
            json(status.services)
          end
          request.get(String) do |name|
            at('/status/v1/services/{service}')
            service = status.services[name]
            next json(service.merge('service_name' => name)) if service

            json({ 'kind' => 'service-not-found', 'msg' => "No status information found for service #{name}" }, 404)
          end
        end

        def simple(request)
          request.get([PdbStatus::NAME, true]) do
            at('/status/v1/simple')
            state = status.state
            response.status = state == 'running' ? 200 : 503
            response['content-type'] = 'text/plain;charset=utf-8'
            state
          end
        end

        def status
          PdbStatus.new(opts.fetch(:queries), query('level')['level'])
        end
      end
    end
  end
end
