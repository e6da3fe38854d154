# frozen_string_literal: true

require 'set'
require 'time'

module Simpkv
  class Estate
    # The last run of each node, written at every run:
    #
    #     { 'last_seen' => '2026-11-23T01:02:03Z', 'environment' => 'production', 'status' => 'changed',
    #       'noop' => false, 'changes' => 3, 'failures' => 0, 'runs' => 17,
    #       'report_timestamp' => '2026-11-23T01:02:03.456Z' }
    #
    # All but the first two come from the report of the run, and are absent without reports. `report_timestamp` is the
    # time of that report by the clock of its server ({Produced}). A report with an earlier time has come late: it
    # changes only `runs`, and adds `run`, the number of the last run. Times are those of RFC 3339 in UTC. `received` is
    # the time at which the status was written, if it is not `last_seen`.
    #
    # `details` is the number of the last run whose report has a document of details; it is absent if there was none.
    # Without stored reports (`reports: 0`), `began` is the time at which the last run began that was compiled.
    #
    # A node whose compilers send commands of PuppetDB's API has also `catalog_timestamp`, the time of the last catalog
    # by the clock of its compiler.
    class Statuses < Documents
      # The member that a run leaves as it is.
      KEPT = 'catalog_timestamp'

      def initialize(estate)
        super(estate, 'status')
        @expired = Recent.new { find_expired }
      end

      # @param time [String, nil] of a run, by the clock of its server; nil for now
      # @param before [Hash] the status before
      # @return [Hash{String => String}] the members of a status that tell when the node was seen last
      def self.seen(time, before = {})
        now = Time.now.utc.iso8601
        last = time ? [["#{time[0, 19]}Z", before['last_seen']].compact.max, now].min : now
        last == now ? { 'last_seen' => now } : { 'last_seen' => last, 'received' => now }
      end

      # Enters a run in place of the last one. Another writer's change, made meanwhile, is not lost.
      #
      # @param certname [String]
      # @yieldparam before [Hash] see {#before}
      # @yieldreturn [Hash, nil] the members of the run; nil keeps the status. The block is called again after another
      #   writer's change
      # @return [Hash] the status
      # @raise [Error]
      def enter(certname)
        update(certname) do |stored|
          before = valid?(stored) ? stored : {}
          run = yield(before)
          run && Statuses.seen(run['report_timestamp'], before).merge(run, before.slice(KEPT))
        end.value
      end

      # Enters the time of a deactivation as that of the last catalog: what compilers have sent before is late.
      #
      # @param certname [String]
      # @param time [String]
      # @return [void]
      # @raise [Error]
      def enter_deactivation(certname, time)
        update(certname) do |status|
          status ||= {}
          status.merge(KEPT => time) if Produced.order(status[KEPT]) < Produced.order(time)
        end
      end

      # @param certname [String]
      # @return [Hash] the status; an empty one if there is none, or it cannot be read
      # @raise [Error]
      def before(certname)
        stored = readable(certname)&.value
        valid?(stored) ? stored : {}
      end

      # Returns the nodes that have had no run for `node_ttl`: see {Recent}.
      #
      # @return [Set<String>]
      # @raise [Error]
      def expired
        @estate.options['node_ttl'] ? @expired.value : Set.new
      end

      # @param statuses [Hash{String => Hash}] records of this subject, by the names of nodes
      # @param inventory [Hash{String => Hash}] records of the inventory
      # @return [Set<String>] the nodes among them that have had no run for `node_ttl`. A node of which no time is known
      #   does not expire
      def expired_of(statuses, inventory)
        lifetime = @estate.options['node_ttl']
        return Set.new unless lifetime

        limit = (Time.now.utc - lifetime).iso8601
        Set.new((statuses.keys | inventory.keys).select do |name|
          time = Statuses.last_seen(statuses[name] || {}, inventory[name] || {})
          time && time < limit
        end)
      end

      # @param status [Hash] a record of this subject
      # @param record [Hash] the record of the inventory
      # @return [String, nil] the time of the last run that is known
      def self.last_seen(status, record)
        times = { 'last_seen' => status, 'seen' => record }.map { |name, value| value[name] if value.is_a?(Hash) }
        times.grep(String).max
      end

      # @param status [Hash] a record of this subject
      # @return [Integer, nil] the number of the run whose report is the newest; nil without reports
      def self.newest_run(status)
        status['run'] || status['runs']
      end

      private

      def valid?(status)
        status.is_a?(Hash) &&
          status.values_at('last_seen', 'received', 'report_timestamp').compact.all? { |time| Produced.time?(time) } &&
          status.values_at('environment', 'status').compact.all?(String) &&
          status.values_at('changes', 'failures', 'runs', 'run', 'details').compact.all?(Integer)
      end

      # Reads few records of the inventory: those of nodes without a recent status. A node whose status cannot be read
      # has not expired.
      def find_expired
        unreadable = []
        statuses = all { |key, _| unreadable << key.delete_prefix("#{path}/") }
        recent = statuses.keys - expired_of(statuses, {}).to_a
        seen = @estate.inventory.names { |key, _| unreadable << File.basename(key) }
        expired_of(statuses, @estate.inventory.many(seen - recent - unreadable))
      end
    end
  end
end
