# frozen_string_literal: true

require 'simpkv/server/doctor_process'
require 'simpkv/server/history'
require 'simpkv/status/latest'
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
      PERIODS = Status::Part.all.slice(*%w[nodes servers spool compilers expiring_keys access])
                            .transform_values { |type| type::PERIOD }.merge('runs' => 60, 'doctor' => 3600).freeze
      DAY = 86_400
      private_constant :PERIODS, :DAY

      # @param site [Site]
      # @param owner [Caller] in whose name the service reads
      # @param certificates [Certificates]
      # @param replicas [ReplicaWatch]
      # @param queries [Queries, nil]
      # @param doctor [DoctorProcess]
      # @param log [Log]
      def initialize(site, owner, certificates:, replicas:, queries:, doctor:, log:) # rubocop:disable Metrics/ParameterLists
        @site = site
        @owner = owner
        @certificates = certificates
        @replicas = replicas
        @queries = queries
        @doctor = doctor
        @log = log
        @history = History.new
        @parts = PERIODS.to_h { |name, period| [name, latest(name, period, log)] }
      end

      # Starts a thread that measures servers and the index for the {History}. No error ends it.
      #
      # @return [Thread]
      def start
        Thread.new do
          loop do
            measure
            sleep(History::INTERVAL)
          end
        end
      end

      # @param view [StatusView] what the caller may know
      # @return [Hash{String => Object}] see {History#report}
      def history(view)
        @history.report { |backend| view.backend?(backend) }
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

      # @return [String] metrics of the servers of directories, as they were read last, in the text format of Prometheus
      def text
        page = Status::Exposition.new
        reading = @parts['servers'].get
        Status::Part.all.fetch('servers').metrics(page, reading.value) if reading.value && reading.error.nil?
        page.text
      end

      private

      def measure
        reading = @parts['servers'].get
        servers = reading.error || reading.value.nil? ? [] : reading.value['servers']
        @history.note(servers, @queries&.report&.fetch('age'))
      rescue StandardError => e
        @log.call("the history of the servers has a gap: #{e.class.name}")
      end

      def latest(name, period, log)
        own = "read_#{name}"
        read = respond_to?(own, true) ? method(own) : part(name).method(:read)
        Status::Latest.new("'#{name}' of the state of the site", period, log, &read)
      end

      def part(name)
        Status::Part.all.fetch(name).new(@site, @owner)
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

      def read_runs
        unless @queries
          raise InvalidError, "the service answers no queries: the option 'query_workers' of 'server' is 0"
        end

        RunCounts.new(@queries, estate).of_days
      end

      def read_servers
        part = part('servers').read
        part.merge('servers' => part['servers'].map { |server| server.merge('lag' => lag(server)) })
      end

      def lag(server)
        lag = @replicas.lag(*server.values_at('backend', 'uri'))
        lag&.merge('time' => lag['time'] && Time.at(lag['time']).utc.iso8601)
      end

      def read_doctor
        @doctor.findings
      end
    end
  end
end
