# frozen_string_literal: true

module Simpkv
  class Estate
    # One short record for each node: its environment, the facts of the option `indexed_facts`, and digests of the other
    # documents of the node, so that one small read tells what has changed:
    #
    #     { 'environment' => 'production', 'facts' => { 'os.name' => 'Debian' }, 'facts_digest' => '9f86...',
    #       'exports' => { 'host' => '60303...' }, 'seen' => '2026-11-23T01:02:03Z' }
    #
    # `exports` has each type of which a document may be stored: nil in place of a digest if a save is on its way, or
    # has died. Then `saving` has the time of each such save, by its token, and `overtaken_by` the token of the last
    # save that has ended before them. `facts_saving` and `facts_overtaken_by` are the same for `facts_digest`. `seen`
    # is there if nodes expire.
    class Inventory < Documents
      # The thread's last record. A run saves facts, compiles and saves exports in one thread.
      KEPT = :simpkv_estate_inventory

      # The number of seconds after which it is read again: the run that kept it may have failed.
      KEPT_FOR = 120
      private_constant :KEPT, :KEPT_FOR

      def initialize(estate)
        super(estate, 'inventory')
      end

      # Keeps a record for the next step of the same run, which then does not read it.
      #
      # @param certname [String]
      # @param stored [Stored]
      # @return [void]
      def keep(certname, stored)
        Thread.current[KEPT] = [self, certname, stored, now]
      end

      # @param certname [String]
      # @return [Stored, nil] the record that was kept, once; else the one that is stored
      def take(certname)
        inventory, name, stored, time = Thread.current[KEPT]
        Thread.current[KEPT] = nil
        inventory.equal?(self) && name == certname && now - time < KEPT_FOR ? stored : readable(certname)
      end

      # Reads the records of all nodes that have not expired.
      #
      # @param strict [Boolean] see {Documents#all}, as for the block
      # @yieldparam key [String] of a document that cannot be read
      # @yieldparam why [String]
      # @return [Hash{String => Hash}]
      # @raise [MalformedError] see {Documents#all}
      def current(strict: false, &block)
        expired = @estate.statuses.expired
        all(strict: strict, &block).reject { |certname, _| expired.include?(certname) }
      end

      # @param record [Hash]
      # @return [Boolean] whether its time is to be renewed: four times in the lifetime of a node
      def stale?(record)
        lifetime = @estate.options['node_ttl']
        lifetime ? record['seen'].to_s < (Time.now.utc - (lifetime / 4)).iso8601 : false
      end

      # Replaces a record.
      #
      # @param certname [String]
      # @param stored [Stored, nil] the record as it was read
      # @param value [Hash]
      # @return [Stored]
      # @raise [ConflictError, ExistsError] another writer has replaced it since
      def replace_stored(certname, stored, value)
        replace(path(certname), stored, value)
      end

      private

      def now
        Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end

      def valid?(record)
        record.is_a?(Hash) && (record['seen'].nil? || Statuses.time?(record['seen'])) &&
          (record['environment'].nil? || record['environment'].is_a?(String)) &&
          record.values_at('exports', 'facts', 'saving', 'facts_saving').compact.all?(Hash)
      end
    end
  end
end
