# frozen_string_literal: true

require 'time'
require 'simpkv/status/replication'

module Simpkv
  module Status
    # Asks each server of a directory by itself: a store would fail over to another one.
    class Servers
      # The number of reads of which the fastest counts.
      READS = 3
      DAY = 86_400
      # Seconds in which a change may be on its way to a server, and the pause between two looks.
      SETTLING = 1
      PAUSE = 0.1
      # In place of the URI of a backend that names no server.
      NO_URI = '-'
      private_constant :READS, :DAY, :SETTLING, :PAUSE, :NO_URI

      # @param settings [Hash{String => Object}] of a backend
      # @return [Array<String>] the URIs of its servers, beginning with one that takes writes; none for files
      def self.uris(settings)
        return [] unless settings['type'] == 'ldap'

        settings.values_at('write_uri', 'ldap_uri').compact.flat_map(&:split).uniq
      end

      # @param backends [Array<Backend>]
      # @return [Array<String>] the names of those of which several servers could take writes at a time, because no
      #   `write_uri` says which one does: see {LdapAccess.writer_warning}
      def self.without_writer(backends)
        found = backends.select { |each| each.settings['type'] == 'ldap' && LdapAccess.writer_warning(each.settings) }
        found.map(&:name)
      end

      # @param backends [Array<Backend>]
      def initialize(backends)
        @backends = backends
        @mutex = Mutex.new
      end

      # Reads the base entry of each server, and if there are several its state of replication, at all servers at the
      # same time. A server that does not answer costs its time limit once.
      #
      # @return [Array<Hash{String => Object}>] of each server of each backend `backend`, `uri` (`-` if the backend
      #   names no server), `writes` (whether it takes writes), `state` (`up`; `down` with `error`; or `misconfigured`
      #   with `error`, if the options of the backend cannot be used, so that no server was asked), `latency_ms` of a
      #   read, and `certificate_days`, the whole days until its certificate expires (and `certificate_ends`, the time),
      #   or nil without TLS. If the directory has several servers, also `lag_seconds` (see {Replication.lag}), which is
      #   nil if it is not known. Of a server that is up, `lag_unknown` then is the reason. If there is a number and a
      #   reason, the lag is at least that number. `lag_unseen` has the IDs of {Replication.unseen}, if there are any
      def all
        threads = @backends.map { |backend| Thread.new { servers(backend) } }
        threads.each { |thread| thread.report_on_exception = false }
        threads.flat_map(&:value)
      end

      private

      def servers(backend)
        uris = Servers.uris(backend.settings)
        problem = LdapAccess.advised_problem(backend.settings) if backend.settings['type'] == 'ldap'
        problem ? unasked(backend, uris, problem) : answers(backend, uris)
      end

      def answers(backend, uris)
        states = {}
        found = each_at_once(uris) { |uri| server(backend, uri, uris) { |store| note(states, uri, store, backend) } }
        return found if uris.length < 2

        first = known(states)
        settle(first.values, states, backend)
        found.map { |server| server.merge(lag(server['uri'], states[server['uri']], first, uris)) }
      end

      # @return [Array] what the block returns for each server
      def each_at_once(uris)
        threads = uris.map { |uri| Thread.new { yield uri } }
        threads.each { |thread| thread.report_on_exception = false }
        threads.map(&:value)
      end

      def unasked(backend, uris, problem)
        found = { 'state' => 'misconfigured', 'error' => problem }
        found['lag_seconds'] = nil if uris.length > 1
        (uris.empty? ? [NO_URI] : uris).map { |uri| named(backend, uri, uris).merge(found) }
      end

      def server(backend, uri, uris, &block)
        named(backend, uri, uris).merge(answer(backend.settings, uri, uris, &block))
      end

      def named(backend, uri, uris)
        writers = (backend.settings['write_uri'] || uris.join(' ')).split
        { 'backend' => backend.name, 'uri' => uri, 'writes' => writers.include?(uri) }
      end

      def answer(settings, uri, uris)
        connected(settings, uri) do |store|
          # The first read connects and binds.
          LdapAccess.base(store)
          latency = Array.new(READS) { milliseconds { LdapAccess.base(store) } }.min
          yield store if uris.length > 1
          { 'state' => 'up', 'latency_ms' => latency }.merge(certificate(uri))
        end
      rescue Error, ConfigError => e
        { 'state' => 'down', 'error' => e.message }
      end

      def connected(settings, uri)
        store = LdapAccess.open(settings, 'ldap_uri' => uri, 'write_uri' => uri, 'retries' => 0)
        yield store
      ensure
        store&.close
      end

      # Notes the state of replication of a server, or why it is unknown.
      def note(states, uri, store, backend)
        found = Replication.state(store, backend.settings)
        @mutex.synchronize { states[uri] = found }
      rescue Replication::Unknown => e
        @mutex.synchronize { states[uri] = e }
      end

      # A change that is on its way is no lag: looks again at the servers that are behind. What they lack is what others
      # had at the first look.
      def settle(first, states, backend)
        give_up = Clock.now + SETTLING
        while Clock.now < give_up
          behind = known(states).select { |_, state| behind?(first, state) }.keys
          return if behind.empty?

          sleep(PAUSE)
          each_at_once(behind) { |uri| look_again(states, uri, backend) }
        end
      end

      def behind?(first, state)
        Replication.lag(first, state).positive? || Replication.unseen(first, state).any?
      end

      def look_again(states, uri, backend)
        connected(backend.settings, uri) { |store| note(states, uri, store, backend) }
      rescue Error => e
        @mutex.synchronize { states[uri] = Replication::Unknown.new(e.message) }
      end

      def known(states)
        states.select { |_, state| state.is_a?(Hash) }
      end

      # @param uri [String] the server
      # @param state [Hash, Replication::Unknown, nil] of that server; nil if it is down
      # @param first [Hash{String => Hash}] the states that were known at the first look, by server
      # @param uris [Array<String>] of all servers. One that does not tell its state may have changes that this server
      #   lacks
      def lag(uri, state, first, uris)
        return { 'lag_seconds' => nil } unless state
        return { 'lag_seconds' => nil, 'lag_unknown' => state.message } unless state.is_a?(Hash)

        seconds = Replication.lag(first.values, state)
        silent = uris - [uri] - first.keys
        unseen = Replication.unseen(first.values, state)
        return { 'lag_seconds' => seconds } if silent.empty? && unseen.empty?

        { 'lag_seconds' => (seconds if seconds.positive?), 'lag_unknown' => reason(uri, silent, unseen),
          **(unseen.empty? ? {} : { 'lag_unseen' => unseen }) }
      end

      # @param uri [String] the server whose lag is unknown
      # @param silent [Array<String>] the servers that do not tell their state
      # @param unseen [Array<String>] the IDs of the servers of which this one has stored no change
      def reason(uri, silent, unseen)
        [("#{silent.join(', ')} #{silent.one? ? 'does' : 'do'} not say which changes there are" if silent.any?),
         ("#{uri} has stored no change of the server with the ID #{unseen.join(' or ')}" if unseen.any?)]
          .compact.join('; ')
      end

      def milliseconds
        before = Clock.now
        yield
        ((Clock.now - before) * 1000).round(2)
      end

      def certificate(uri)
        servers = Simpkv.stats['pools'].flat_map { |pool| pool['servers'] }.select { |server| server['uri'] == uri }
        ends = servers.map { |server| (server['tls'] || {})['certificate_ends'] }.compact.max
        return { 'certificate_days' => nil } unless ends

        { 'certificate_days' => (ends - Time.now.to_i).div(DAY), 'certificate_ends' => Time.at(ends).utc.iso8601 }
      end
    end
  end
end
