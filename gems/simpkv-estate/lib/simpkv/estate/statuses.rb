# frozen_string_literal: true

require 'set'
require 'time'

module Simpkv
  class Estate
    # The last run of each node, written at every run:
    #
    #     { 'last_seen' => '2026-11-23T01:02:03Z', 'environment' => 'production', 'status' => 'changed',
    #       'noop' => false, 'changes' => 3, 'failures' => 0, 'runs' => 17 }
    #
    # All but the first two come from the report of the run, and are absent without reports. Times are those of RFC 3339
    # in UTC, so that their order is that of their text.
    #
    # A node whose compilers send commands of PuppetDB's API has also `catalog_timestamp`, the time of the last catalog
    # by the clock of its compiler.
    class Statuses < Documents
      # The member that a run leaves as it is.
      KEPT = 'catalog_timestamp'
      TIME = /\A(\d{4})-(\d\d)-(\d\d)T(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?Z\z/.freeze

      private_constant :TIME

      def initialize(estate)
        super(estate, 'status')
        @expired = Recent.new { find_expired }
      end

      # Enters a run in place of the last one. Another writer's change, made meanwhile, is not lost.
      #
      # @param certname [String]
      # @yieldparam before [Hash] see {#before}
      # @yieldreturn [Hash] the members of the run; called again after another writer's change
      # @return [Hash] the status
      # @raise [Error]
      def enter(certname)
        update(certname) do |stored|
          before = valid?(stored) ? stored : {}
          { 'last_seen' => Time.now.utc.iso8601 }.merge(yield(before), before.slice(KEPT))
        end.value
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

      # @param value [Object]
      # @return [Boolean] whether it is a time of RFC 3339 in UTC
      def self.time?(value)
        date = value.match(TIME) if value.is_a?(String)
        !date.nil? && Date.valid_civil?(*date.captures.map(&:to_i))
      end

      private

      def valid?(status)
        status.is_a?(Hash) && (status['last_seen'].nil? || Statuses.time?(status['last_seen'])) &&
          status.values_at('environment', 'status').compact.all?(String) &&
          status.values_at('changes', 'failures', 'runs').compact.all?(Integer)
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
