# frozen_string_literal: true

require 'set'
require 'time'

module Simpkv
  class Estate
    # The last run of each node, written at every run:
    #
    #     { 'last_seen' => '2026-11-23T01:02:03Z', 'environment' => 'production', 'status' => 'changed', 'noop' => false,
    #       'changes' => 3, 'failures' => 0, 'runs' => 17 }
    #
    # All but the first two come from the report of the run, and are absent without reports.
    class Statuses < Documents
      # The number of seconds for which {#expired} does not look again.
      EXPIRED_FOR = 60
      private_constant :EXPIRED_FOR

      def initialize(estate)
        super(estate, 'status')
        @mutex = Mutex.new
      end

      # @return [Set<String>] the nodes that have had no run for `node_ttl`; a process looks at most once a minute
      def expired
        lifetime = @estate.options['node_ttl']
        return Set.new unless lifetime

        @mutex.synchronize do
          now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
          return @expired if @expired && now - @looked < EXPIRED_FOR

          @looked = now
          @expired = find_expired(lifetime)
        end
      end

      private

      # Timestamps in UTC are ordered as text.
      def find_expired(lifetime)
        limit = (Time.now.utc - lifetime).iso8601
        seen = all.transform_values { |record| record['last_seen'].to_s }
        @estate.inventory.all.each { |name, record| seen[name] = [seen[name].to_s, record['seen'].to_s].max }
        Set.new(seen.select { |_, time| time < limit }.keys)
      end
    end
  end
end
