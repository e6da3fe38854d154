# frozen_string_literal: true

require 'simpkv/server/doctor_process'
require 'simpkv/server/latest'
require 'simpkv/server/run_counts'
require 'simpkv/status'

module Simpkv
  module Server
    # What `/v1/status` tells: the state of the site at one glance. A thread of its own reads each part, as often as its
    # period allows, and the part has the time of this reading. A part that cannot be told has `error` only.
    # Thread-safe.
    class SiteStatus
      # The seconds between two readings of a part, at least.
      PERIODS = { 'nodes' => 10, 'runs' => 60, 'servers' => 15, 'compilers' => 60, 'expiring_keys' => 300,
                  'access' => 900, 'doctor' => 3600 }.freeze
      # The most keys in an answer, and in memory.
      NAMED = 100
      KEPT = 10_000
      DAY = 86_400
      private_constant :PERIODS, :NAMED, :KEPT, :DAY

      # @param site [Site]
      # @param owner [Caller] in whose name the service reads
      # @param certificates [Certificates]
      # @param replicas [ReplicaWatch]
      # @param queries [Queries, nil]
      # @param doctor [DoctorProcess]
      # @param log [IO]
      def initialize(site, owner, certificates:, replicas:, queries:, doctor:, log:) # rubocop:disable Metrics/ParameterLists
        @site = site
        @owner = owner
        @certificates = certificates
        @replicas = replicas
        @queries = queries
        @doctor = doctor
        @parts = PERIODS.to_h { |name, period| [name, Latest.new(period, log, &method("read_#{name}"))] }
      end

      # Ends what is running.
      #
      # @return [void]
      def stop
        @doctor.stop
      end

      # @param caller [Caller]
      # @param rights [Rights]
      # @return [Hash{String => Hash}] the parts, and `service`, which needs no reading
      def report(caller, rights)
        # All begin now, so that a request waits for the slowest at most.
        @parts.each_value(&:renew)
        parts = @parts.to_h do |name, latest|
          reading = latest.get
          [name, reading.error || reading.value.nil? ? failure(reading) : part(name, reading, caller, rights)]
        end
        { 'service' => service, **parts }
      end

      private

      def service
        now = Time.now
        certificates = @certificates.ends.map do |option, subject, time|
          { 'option' => option, 'subject' => subject, 'expires' => time.utc.iso8601,
            'days' => ((time - now) / DAY).floor }
        end
        { 'version' => VERSION, 'certificates' => certificates }
      end

      def failure(reading)
        return { 'error' => 'it is being read for the first time: ask again', 'pending' => true } unless reading.error

        { 'error' => reading.error, 'last_success' => reading.time&.iso8601 }.compact
      end

      def part(name, reading, caller, rights)
        value = reading.value
        value = expiring_keys(value, caller, rights) if name == 'expiring_keys'
        value = findings(value, caller, rights) if name == 'doctor'
        { 'time' => reading.time.iso8601, **value }
      end

      # The caller sees the keys whose names the API would show.
      def expiring_keys(keys, caller, rights)
        allowed = keys.select { |key| rights.key?(caller, key.name, key.environment, key.backend) }
        named = allowed.first(NAMED).map do |key|
          { 'backend' => key.backend, 'environment' => key.environment, 'name' => key.name,
            'expires' => Versions.text(key.expires) }
        end
        { 'keys' => named, 'total' => allowed.length, 'all' => keys.length < KEPT }
      end

      def findings(all, caller, rights)
        counts = %w[problem warning unknown ok].to_h { |state| [state, all.count { |each| each['state'] == state }] }
        return { 'counts' => counts } unless rights.findings?(caller)

        findings = %w[problem warning unknown].flat_map { |state| all.select { |finding| finding['state'] == state } }
        { 'counts' => counts, 'findings' => findings }
      end

      def estate
        @site.estate(@owner)
      end

      def read_nodes
        Status::NodeCounts.of(estate)
      end

      def read_runs
        unless @queries
          raise InvalidError, "the service answers no queries: the option 'query_workers' of 'server' is 0"
        end

        RunCounts.new(@queries, estate).of_days
      end

      def read_servers
        servers = Status::Servers.new(@site.backend_names.map { |name| @site.backend(name) }).all
        { 'servers' => servers.map { |server| server.merge('lag' => lag(server)) } }
      end

      def lag(server)
        lag = @replicas.lag(*server.values_at('backend', 'uri'))
        lag&.merge('time' => lag['time'] && Time.at(lag['time']).utc.iso8601)
      end

      def read_compilers
        { 'compilers' => Status::Compilers.of(estate) }
      end

      def read_expiring_keys
        keys = @site.backend_names.flat_map do |name|
          _, store = @site.store(@owner, name)
          Status::ExpiringKeys.new(name, store).first(KEPT)
        end
        keys.sort_by(&:expires).first(KEPT)
      end

      def read_access
        access = @site.access
        access ? { 'configured' => true, **Status::Drift.of(access) } : { 'configured' => false }
      end

      def read_doctor
        @doctor.findings
      end
    end
  end
end
