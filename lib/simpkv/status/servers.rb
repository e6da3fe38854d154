# frozen_string_literal: true

require 'simpkv/backend'

module Simpkv
  module Status
    # Asks each server of a directory by itself: a store would fail over to another one.
    class Servers
      # The number of reads of which the fastest counts.
      READS = 3
      DAY = 86_400
      private_constant :READS, :DAY

      # @param settings [Hash{String => Object}] of a backend
      # @return [Array<String>] the URIs of its servers, beginning with one that takes writes; none for files
      def self.uris(settings)
        return [] unless settings['type'] == 'ldap'

        settings.values_at('write_uri', 'ldap_uri').compact.flat_map(&:split).uniq
      end

      # @param backends [Array<Backend>]
      def initialize(backends)
        @backends = backends
      end

      # Reads the base entry of each server, at the same time of all.
      #
      # @return [Array<Hash{String => Object}>] of each server of each backend `backend`, `uri`, `writes` (whether it
      #   takes writes), `state` (`up`, or `down` with `error`), `latency_ms` of a read, and `certificate_days`, the
      #   whole days until its certificate expires, or nil without TLS
      def all
        asked = @backends.flat_map do |backend|
          uris = Servers.uris(backend.settings)
          uris.map { |uri| Thread.new { server(backend, uri, uris) } }
        end
        asked.map(&:value)
      end

      private

      def server(backend, uri, uris)
        writers = (backend.settings['write_uri'] || uris.join(' ')).split
        { 'backend' => backend.name, 'uri' => uri, 'writes' => writers.include?(uri) }
          .merge(answer(backend.settings, uri))
      end

      def answer(settings, uri)
        store = LdapAccess.open(settings, 'ldap_uri' => uri, 'write_uri' => uri, 'retries' => 0)
        # The first read connects and binds.
        LdapAccess.base(store)
        { 'state' => 'up', 'latency_ms' => Array.new(READS) { milliseconds { LdapAccess.base(store) } }.min,
          'certificate_days' => certificate_days(uri) }
      rescue Error, ConfigError => e
        { 'state' => 'down', 'error' => e.message }
      ensure
        store&.close
      end

      def milliseconds
        before = Clock.now
        yield
        ((Clock.now - before) * 1000).round(2)
      end

      def certificate_days(uri)
        servers = Simpkv.stats['pools'].flat_map { |pool| pool['servers'] }.select { |server| server['uri'] == uri }
        ends = servers.map { |server| (server['tls'] || {})['certificate_ends'] }.compact.max
        ends && (ends - Time.now.to_i).div(DAY)
      end
    end
  end
end
