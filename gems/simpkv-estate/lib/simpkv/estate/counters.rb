# frozen_string_literal: true

require 'simpkv/estate/key_fingerprints'

module Simpkv
  class Estate
    # The counters of the connections of each compiler: {Simpkv.stats}, by the name of the machine. With the option
    # `compiler_counters`, a process stores its own together with a report, at most once a minute:
    #
    #     { 'time' => '2026-11-25T10:00:00Z', 'pid' => 4711, 'version' => '1.1.0', 'pools' => [...],
    #       'keys' => { 'default' => '9f86d081884c7d65' } }
    #
    # `keys` has the fingerprints of {KeyFingerprints}, if backends have keys. Processes of earlier versions store and
    # demand none. The counters of a process begin with 0. They have no value and no password.
    #
    # A process that has dropped what runs report, because of the option `soft_writes`, stores them in any case, with
    # `dropped`: how often, and the time of the last one. It adds what it has dropped to the number that is stored,
    # which processes of one machine share, and which stays until nothing was dropped for {DROPPED_FOR}.
    class Counters < Documents
      # Counters of a process that has not stored them for so many seconds do not count any more.
      LIFETIME = 3600
      # What was dropped counts for so many seconds.
      DROPPED_FOR = 86_400
      SECONDS = 60
      # Members of a pool, and of a server, that are numbers of at least 0, or missing.
      POOL_NUMBERS = %w[waiting waits wait_timeouts].freeze
      SERVER_NUMBERS = %w[idle in_use connects binds failures blames timeouts].freeze
      # Members of a server that have such a number for each name.
      SERVER_TABLES = %w[retries operations].freeze
      private_constant :SECONDS, :POOL_NUMBERS, :SERVER_NUMBERS, :SERVER_TABLES

      def initialize(estate)
        super(estate, 'counters')
        @mutex = Mutex.new
        @next = 0
        @dropped = nil
      end

      # Counts something that a run has reported, and that could not be stored.
      #
      # @return [void]
      def count_drop
        @mutex.synchronize { @dropped = sum(@dropped, 'count' => 1, 'time' => Time.now.utc.iso8601) }
      end

      # @return [Boolean] whether this process has dropped something that the stored count does not yet include
      def dropped?
        !@dropped.nil?
      end

      # Stores the counters of this process, if they are due.
      #
      # @return [void]
      # @raise [Error, ConfigError]
      def save_due
        return unless (@estate.options['compiler_counters'] || dropped?) && due?

        store(@dropped)
      rescue Error, ConfigError
        @mutex.synchronize { @next = 0 } # The writer may be down still, and be back for the next save.
        raise
      end

      # @return [Hash{String => Hash}] the counters of all compilers that have stored them within {LIFETIME}, by the
      #   names of their machines
      # @raise [MalformedError] a document cannot be read
      def recent
        all.select { |_, counters| recent?(counters) }
      end

      # @return [Hash{String => Hash}] as {#recent}, and of other compilers that have dropped something within
      #   {DROPPED_FOR}, the time of their counters, and `dropped`
      # @raise [MalformedError] a document cannot be read
      def recent_or_dropped
        kept = all.map do |name, counters|
          next [name, counters] if recent?(counters)

          [name, counters.slice('time', 'dropped').merge('pools' => [])] if lasting(counters['dropped'])
        end
        kept.compact.to_h
      end

      private

      # @param dropped [Hash, nil] what this process adds
      def store(dropped)
        update(Audit.host.downcase) do |stored|
          total = sum(valid?(stored) ? lasting(stored['dropped']) : nil, dropped)
          Simpkv.stats.merge(about_process, total ? { 'dropped' => total } : {})
        end
        @mutex.synchronize { @dropped = dropped.equal?(@dropped) ? nil : less(@dropped, dropped) }
      end

      def recent?(counters)
        counters['time'] >= (Time.now.utc - LIFETIME).iso8601
      end

      # @return [Hash, nil] nil if it is too old
      def lasting(dropped)
        dropped if dropped && dropped['time'] >= (Time.now.utc - DROPPED_FOR).iso8601
      end

      # @return [Hash, nil] of two numbers with the time of the last one, each of which may be nil
      def sum(one, other)
        both = [one, other].compact
        return if both.empty?

        { 'count' => both.sum { |each| each['count'] }, 'time' => both.map { |each| each['time'] }.max }
      end

      # @return [Hash] what was dropped meanwhile, in another thread
      def less(now, stored)
        now.merge('count' => now['count'] - stored.to_h.fetch('count', 0))
      end

      def about_process
        keys = KeyFingerprints.of(@estate.backends)
        { 'time' => Time.now.utc.iso8601, 'pid' => Process.pid, 'version' => VERSION }
          .merge(keys.empty? ? {} : { 'keys' => keys })
      end

      def due?
        now = Clock.now
        @mutex.synchronize { now >= @next && (@next = now + SECONDS) }
      end

      def valid?(counters)
        counters.is_a?(Hash) && Produced.time?(counters['time']) && process?(counters) &&
          counters['pools'].is_a?(Array) && counters['pools'].all? { |pool| pool?(pool) }
      end

      def process?(counters)
        [counters['version']].compact.all?(String) && [counters['pid']].compact.all?(Integer) &&
          KeyFingerprints.valid?(counters.fetch('keys', {})) && dropped_form?(counters['dropped'])
      end

      def dropped_form?(dropped)
        dropped.nil? || (dropped.is_a?(Hash) && dropped['count'].is_a?(Integer) && Produced.time?(dropped['time']))
      end

      def pool?(pool)
        pool.is_a?(Hash) && pool['identity'].is_a?(String) && numbers?(pool.values_at(*POOL_NUMBERS)) &&
          pool['servers'].is_a?(Array) && pool['servers'].all? { |server| server?(server) }
      end

      def server?(server)
        server.is_a?(Hash) && server['uri'].is_a?(String) && numbers?(server.values_at(*SERVER_NUMBERS)) &&
          server.values_at(*SERVER_TABLES).all? { |table| table.is_a?(Hash) && numbers?(table.values) } &&
          tls?(server['tls'])
      end

      def tls?(facts)
        facts.nil? || (facts.is_a?(Hash) && numbers?([facts['certificate_ends']]))
      end

      def numbers?(values)
        values.compact.all? { |value| value.is_a?(Numeric) && value >= 0 }
      end
    end
  end
end
