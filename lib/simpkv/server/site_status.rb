# frozen_string_literal: true

require 'simpkv/server/doctor_process'
require 'simpkv/server/latest'
require 'simpkv/server/run_counts'
require 'simpkv/server/status_view'
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
      # The most keys in memory.
      KEPT = 10_000
      DAY = 86_400
      private_constant :PERIODS, :KEPT, :DAY

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
        @parts = PERIODS.to_h { |name, period| [name, latest(name, period, log)] }
      end

      # Ends what is running.
      #
      # @return [void]
      def stop
        @doctor.stop
      end

      # @param view [StatusView] what the caller may know
      # @return [Hash{String => Hash}] the parts, and `service`, which needs no reading
      def report(view)
        # All begin now, so that a request waits for the slowest at most.
        @parts.each_value(&:renew)
        { 'service' => service, **@parts.to_h { |name, latest| [name, view.part(name, latest.get)] } }
      end

      private

      def latest(name, period, log)
        Latest.new("'#{name}' of the state of the site", period, log, &method("read_#{name}"))
      end

      def service
        now = Time.now
        certificates = @certificates.ends.map do |option, subject, time|
          { 'option' => option, 'subject' => subject, 'expires' => time.utc.iso8601,
            'days' => ((time - now) / DAY).floor }
        end
        { 'version' => VERSION, 'certificates' => certificates }
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
        found = @site.backend_names.map do |name|
          _, store = @site.store(@owner, name)
          reading = Status::ExpiringKeys.new(name, store)
          [reading.first(KEPT), reading.unreadable, reading.unreadable_total]
        end
        keys, unreadable, totals = found.transpose.map { |lists| lists.flatten(1) }
        { keys: keys.sort_by(&:expires).first(KEPT), all: keys.length < KEPT, unreadable: unreadable,
          unreadable_total: totals.sum }
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
