# frozen_string_literal: true

require 'simpkv/counted'

module Simpkv
  class Estate
    # Removes what nodes left in the store, all but their declared records.
    class Removal
      # The seconds for which a deactivated node is kept without the option `node_purge_ttl`.
      PURGE_TTL = 14 * 86_400
      # The further seconds for which the store knows that a node was removed.
      KNOWN = 90 * 86_400
      private_constant :PURGE_TTL, :KNOWN

      # Words the result of a removal for an operator.
      #
      # @param name [String] of the node
      # @param removed [Hash{String => Object}] see {Estate#remove}
      # @return [String]
      def self.line(name, removed)
        return "#{name}: nothing to remove" if removed.empty?

        subjects = removed.map do |subject, count|
          count.is_a?(Integer) ? "#{subject} of #{Counted.of(count, 'type')}" : subject.tr('_', ' ')
        end
        "#{name}: removed #{subjects.join(', ')}"
      end

      # @param estate [Estate]
      def initialize(estate)
        @estate = estate
      end

      # Removes what a node left. The record of the inventory goes last, because it names the other documents: the next
      # removal completes one that died. The record stays while a run is saving: otherwise a run that dies after it has
      # written a document would leave the document without a record.
      #
      # @param certname [String]
      # @param time [String, nil] nothing older that waits in a spool brings the node back; nil: all may
      # @return [Hash{String => Object}] see {Estate#remove}
      # @raise [ConflictError] runs of the node kept saving, or one died less than five minutes ago
      # @raise [Error]
      def remove(certname, time)
        @estate.purged.enter(certname, time) if time
        removed = {}
        CompareAndSwap.repeat(Saving.conflict(certname, 'removed')) do
          removed = removed_once(certname).merge(removed) { |_, now, before| now.is_a?(Integer) ? now + before : now }
          deleted = remove_record(certname)
          CompareAndSwap.overtaken if deleted.nil?
          deleted ? removed.merge('inventory' => true) : removed
        end
      end

      # @return [Array<String>] see {Estate#removable}. A node whose record cannot be read is not deactivated
      def due
        deactivated = @estate.inventory.all(as: ->(_, record) { due?(record) }) { |_key, _why| nil }
        (@estate.statuses.expired | deactivated.select { |_, due| due }.keys).sort
      end

      # Removes what the nodes left that are {#due}. Checks each again, because it may run meanwhile. A node whose run
      # is saving keeps its record, until the next call after five minutes. Then forgets nodes that were removed long
      # ago.
      #
      # @yieldparam certname [String] of a node that was removed
      # @yieldparam removed [Hash{String => Object}] see {Estate#remove}
      # @param errors [Hash{String => String}, nil] see {Estate#expire}, as for what is raised
      # @return [Array<String>] the names of the nodes that were removed, sorted
      def expire(errors = nil, &block)
        expired = expire_due(errors, &block)
        @estate.purged.forget(ago(KNOWN))
        expired
      end

      private

      def expire_due(errors)
        due.select do |certname|
          removed = remove_due(certname)
          yield certname, removed if removed && block_given?
          removed
        rescue ConflictError
          false
        rescue Error => e
          raise if errors.nil? || e.is_a?(TransientError)

          errors[certname] = e.message
          false
        end
      end

      def remove_due(certname)
        status, record = [@estate.statuses, @estate.inventory].map { |documents| readable(documents, certname) }
        return unless due?(record) ||
                      @estate.statuses.expired_of({ certname => status }, { certname => record }).include?(certname)

        remove(certname, record[Deactivation::MEMBER])
      end

      def removed_once(certname)
        exports = @estate.exports.delete(certname)
        removed = { 'exports' => exports.zero? ? nil : exports, 'facts' => @estate.facts.delete(certname),
                    'status' => @estate.statuses.delete(certname), 'reports' => @estate.reports.delete(certname),
                    'catalogs' => @estate.catalogs.delete(certname),
                    'node_cache' => @estate.nodes.delete_cached(certname),
                    'inspections' => @estate.inspections.delete(certname) }
        removed.select { |_, removed_one| removed_one }
      end

      # @return [Boolean, nil] whether there was a record; nil if it is needed, or has changed meanwhile
      def remove_record(certname)
        stored = @estate.inventory.readable(certname)
        return false unless stored
        return if @estate.inventory.needed?(stored.value || {})

        @estate.inventory.delete_expected(certname, stored.document) || nil
      end

      # @return [Boolean] whether a node was deactivated long ago
      def due?(record)
        Deactivation.of?(record) && Produced.order(record[Deactivation::MEMBER]) < Produced.order(ago(0))
      end

      # @param seconds [Integer]
      # @return [String] the time that is so long ago, and as long before that as a deactivated node is kept
      def ago(seconds)
        (Time.now.utc - (@estate.options['node_purge_ttl'] || PURGE_TTL) - seconds).iso8601
      end

      # A document that cannot be read says nothing about the last run.
      def readable(documents, certname)
        value = documents.get(certname)
        value.is_a?(Hash) ? value : {}
      rescue MalformedError
        {}
      end
    end
  end
end
