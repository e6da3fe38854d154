# frozen_string_literal: true

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
  end
end
