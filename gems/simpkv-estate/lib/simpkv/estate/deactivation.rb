# frozen_string_literal: true

require 'simpkv/counted'

module Simpkv
  class Estate
    # Deactivates nodes: their exports go at once, and the record of the inventory has the time, `deactivated`, until
    # the next run of the node (docs/adr/0116).
    class Deactivation
      # The member of the record.
      MEMBER = 'deactivated'

      # Words the result of a deactivation for an operator.
      #
      # @param name [String] of the node
      # @param result [Hash{String => Object}] see {Estate#deactivate}
      # @return [String]
      def self.line(name, result)
        return "#{name}: nothing to deactivate" if result.empty?

        exports = result['exports'] && ", and removed exports of #{Counted.of(result['exports'], 'type')}"
        "#{name}: deactivated#{exports}"
      end

      # @param record [Hash] of the inventory
      # @return [Boolean] whether the node is deactivated
      def self.of?(record)
        record.key?(MEMBER)
      end

      # @param record [Hash] of the inventory
      # @return [Hash] as it is after a run
      def self.ended(record)
        of?(record) ? record.reject { |name, _| name == MEMBER } : record
      end

      # @param estate [Estate]
      def initialize(estate)
        @estate = estate
      end

      # Enters the time in the status first, so that a catalog which was sent before counts as late. Then removes the
      # exports, again if a run has stored some meanwhile.
      #
      # @param certname [String]
      # @param time [String]
      # @return [Hash{String => Object}] see {Estate#deactivate}
      # @raise [ConflictError] runs of the node kept saving, or one died less than five minutes ago
      # @raise [Error]
      def deactivate(certname, time)
        return {} unless known?(certname)

        @estate.statuses.enter_deactivation(certname, time)
        exports = 0
        marked = CompareAndSwap.repeat(Saving.conflict(certname, 'deactivated')) do
          exports += @estate.exports.delete(certname)
          mark(certname, time)
        end
        { 'exports' => (exports if exports.positive?), MEMBER => marked }.compact
      end

      private

      def known?(certname)
        [@estate.inventory, @estate.statuses].any? { |documents| documents.readable(certname) }
      end

      # @return [String] the time of the mark, which stays if it is later
      def mark(certname, time)
        stored = @estate.inventory.readable(certname)
        record = stored&.value || {}
        CompareAndSwap.overtaken if @estate.inventory.needed?(record)
        return record[MEMBER] if Produced.order(time) <= Produced.order(record[MEMBER])

        CompareAndSwap.attempt do
          @estate.inventory.replace_stored(certname, stored, record.merge(MEMBER => time))
        end
        time
      end
    end
  end
end
