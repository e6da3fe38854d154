# frozen_string_literal: true

require 'simpkv/server/api/jolokia'

module Simpkv
  module Server
    module Api
      # The state of the service in the form of PuppetDB's status API.
      class PdbStatus
        # The version of PuppetDB whose API this is.
        VERSION = '7.12.1'
        LEVELS = %w[critical info debug].freeze
        NAME = 'puppetdb-status'
        # The version of the status service, which PuppetDB has beside it.
        STATUS_SERVICE = '1.1.1'
        private_constant :LEVELS, :STATUS_SERVICE

        # @return [String] `running`, `starting` or `error`
        attr_reader :state

        # @param queries [Queries, nil]
        # @param level [String, nil] of detail
        # @raise [Problem] there is no such level
        def initialize(queries, level)
          @state = queries ? queries.state : 'error'
          @level = level || 'info'
          raise Problem.new(400, "Invalid level: #{level.scrub}") unless LEVELS.include?(@level)
        end

        # @return [Hash{String => Hash}] all services
        def services
          { NAME => service(VERSION, state, status),
            'status-service' => service(STATUS_SERVICE, 'running', {}) }
        end

        private

        def service(version, state, status)
          { 'service_version' => version, 'service_status_version' => 1, 'detail_level' => @level, 'state' => state,
            'status' => status, 'active_alerts' => [] }
        end

        def status
          up = state == 'running'
          { 'maintenance_mode?' => false, 'queue_depth' => 0, 'read_db_up?' => up, 'write_db_up?' => up,
            'write_dbs_up?' => up, 'write_db' => { 'default' => { 'up?' => up } } }
        end
      end
    end

    # The status API of PuppetDB, /status/v1, and its metrics, /metrics/v2.
    class Application
      hash_branch('status') do |r|
        r.on('v1') do
          r.on('services') { pdb_services(r) }
          r.on('simple') { pdb_simple(r) }
        end
      end

      private

      def pdb_services(request)
        request.get(['', true]) do
          at('/status/v1/services')
          json(pdb_status.services)
        end
        request.get(String) do |name|
          at('/status/v1/services/{service}')
          service = pdb_status.services[name]
          next json(service.merge('service_name' => name)) if service

          json({ 'kind' => 'service-not-found', 'msg' => "No status information found for service #{name}" }, 404)
        end
      end

      def pdb_simple(request)
        request.get([Api::PdbStatus::NAME, true]) do
          at('/status/v1/simple')
          state = pdb_status.state
          response.status = state == 'running' ? 200 : 503
          response['content-type'] = 'text/plain;charset=utf-8'
          state
        end
      end

      def pdb_status
        Api::PdbStatus.new(opts.fetch(:queries), query('level')['level'])
      end

      def pdb_metrics(request)
        jolokia = Api::Jolokia.new { |question| queries.ask(question) }
        rest = request.remaining_path.delete_prefix('/')
        at('/metrics/v2')
        request.post { json(jolokia.post(body(Hash, Array))) }
        request.get { json(jolokia.get(rest)) }
      end
    end
  end
end
