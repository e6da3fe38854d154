# frozen_string_literal: true

require 'time'

module Simpkv
  module Server
    # What the service has measured of the servers of directories and of its index within the last day. It is kept in
    # memory, and begins anew with the service. Thread-safe.
    class History
      # Seconds of a sample, of which it has the highest values; the number of samples; seconds between measurements.
      SECONDS = 900
      SAMPLES = 96
      INTERVAL = 60
      private_constant :SAMPLES

      # - `latency_ms`, `lag_seconds`: the highest ones; nil if none is known
      # - `down`: whether the server did not answer once
      Sample = Struct.new(:latency_ms, :lag_seconds, :down) do
        # @param server [Hash] of the state of the site
        # @return [void]
        def add(server)
          self.latency_ms = [latency_ms, server['latency_ms']].compact.max
          self.lag_seconds = [lag_seconds, server['lag_seconds']].compact.max
          self.down ||= server['state'] != 'up'
        end
      end

      def initialize
        @mutex = Mutex.new
        @servers = Hash.new { |servers, key| servers[key] = Hash.new { |samples, at| samples[at] = Sample.new } }
        @ages = {}
      end

      # @param servers [Array<Hash>] of the state of the site
      # @param age [Numeric, nil] seconds since the index was compared with the store
      # @param now [Time]
      # @return [void]
      def note(servers, age, now = Time.now)
        at = now.to_i / SECONDS
        @mutex.synchronize do
          servers.each { |server| @servers[server.values_at('backend', 'uri')][at].add(server) }
          @ages[at] = [@ages[at], age].compact.max if age
          forget(at - SAMPLES)
        end
      end

      # @param now [Time]
      # @yieldparam backend [String]
      # @yieldreturn [Boolean] whether the answer is to have its servers
      # @return [Hash{String => Object}] `begin`: the time of the first sample; `seconds` of a sample; `servers` with
      #   their `samples`, and those of the `index`, by time: nil for a time without one
      def report(now = Time.now)
        last = now.to_i / SECONDS
        times = ((last - SAMPLES + 1)..last).to_a
        @mutex.synchronize do
          known = @servers.select { |(backend, _), _| yield(backend) }
          servers = known.map do |(backend, uri), samples|
            shown = times.map { |at| shown(samples[at]) if samples.key?(at) }
            { 'backend' => backend, 'uri' => uri, 'samples' => shown }
          end
          { 'begin' => Time.at(times.first * SECONDS).utc.iso8601, 'seconds' => SECONDS, 'servers' => servers,
            'index' => @ages.values_at(*times) }
        end
      end

      private

      def shown(sample)
        { 'latency_ms' => sample.latency_ms, 'lag_seconds' => sample.lag_seconds, 'down' => sample.down }
      end

      # @param limit [Integer] the number of the last sample that is too old
      def forget(limit)
        [*@servers.values, @ages].each { |samples| samples.delete_if { |at, _| at <= limit } }
        @servers.delete_if { |_, samples| samples.empty? }
      end
    end
  end
end
