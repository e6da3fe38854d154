# frozen_string_literal: true

require 'simpkv/status/servers'

module Simpkv
  module Cli
    # Measures how long a backend takes to answer, and asks each server of a directory.
    class Measurement
      # @param tls [Hash{String => Object}] of a server: see {Simpkv.stats}
      # @return [String, nil] when its certificate expires, in the form of RFC 3339
      def self.certificate_end(tls)
        ends = tls['certificate_ends']
        ends && Time.at(ends).utc.strftime('%FT%TZ')
      end

      # @param backend [ChosenBackend]
      # @param count [Integer] how often to ask
      def initialize(backend, count)
        @backend = backend
        @count = count
      end

      # @return [Hash{String => Object}] see docs/schemas/ping.json
      # @raise [Simpkv::Error, Failure] the backend cannot be used
      def facts
        asking = asking_each_server
        first, *others = measured
        facts = { 'backend' => backend.title, 'location' => backend.location, 'first_call_ms' => first,
                  'median_ms' => median(others), 'slowest_ms' => others.max }
        answers = asking&.value.to_a
        backend.ldap? ? facts.merge(facts_of_directory(answers)) : facts.merge('servers' => [])
      end

      private

      attr_reader :backend

      # The first call connects and binds.
      def measured
        store = backend.store(base: false)
        Array.new(@count + 1) do
          before = Clock.now
          backend.ldap? ? @base = backend.check_base : store.exist?('globals/ping')
          ((Clock.now - before) * 1000).round(3)
        end
      end

      # The identity of a role sees its own folders only.
      def base_entry
        @base == :visible ? 'visible' : "hidden from #{backend.bound_as}, or missing"
      end

      # The server accepts the password. Other processes try it again when the ctime of the file changes.
      def end_backoff
        file = backend.settings['admin_pw_file']
        return unless file

        stat = File.stat(file)
        File.utime(stat.atime, stat.mtime, file)
      rescue SystemCallError
        # The file is another user's, or on a read-only file system: the back-off ends by itself.
      end

      def median(times)
        times.sort[times.length / 2]
      end

      # A store asks another server if one is down.
      #
      # @return [Thread, nil] its value: see {Status::Servers#all}
      def asking_each_server
        return if uris.length < 2

        chosen = backend
        Thread.new { Status::Servers.new([chosen]).all }.tap { |thread| thread.report_on_exception = false }
      end

      # @param answers [Array<Hash>] of each server, asked by itself; none if there is only one
      def facts_of_directory(answers)
        end_backoff
        answers = uris.map { |uri| { 'uri' => uri } } if answers.empty?
        { 'base_entry' => base_entry, 'servers' => each_server(answers) }
      end

      def uris
        Status::Servers.uris(backend.settings)
      end

      def each_server(answers)
        answers.map do |answer|
          same = connected.select { |server| server['uri'] == answer['uri'] }
          server = same.find { |each| each['tls'] } || same.first || answer.slice('uri')
          server_facts(server).merge(answer.slice('state', 'latency_ms', 'error'))
        end
      end

      def connected
        Simpkv.stats['pools'].flat_map { |pool| pool['servers'] }.select { |server| server['connects'].positive? }
      end

      def server_facts(server)
        tls = server['tls']
        { 'server' => server['uri'], 'product' => server['vendor'],
          'encryption' => encryption(server),
          'certificate_ends' => tls && Measurement.certificate_end(tls) }.compact
      end

      def encryption(server)
        return server['tls'].values_at('protocol', 'cipher').join(', ') if server['tls']

        LdapAccess.tls?(backend.settings, server['uri']) ? 'unknown' : 'none'
      end
    end
  end
end
