# frozen_string_literal: true

require 'simpkv/counted'

module Simpkv
  class Estate
    # Removes what nodes left in the store, all but their declared records.
    class Removal
      # Words the result of a removal for an operator.
      #
      # @param name [String] of the node
      # @param removed [Hash{String => Object}] see {Estate#deactivate}
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

      # Removes what a node left. The record of the inventory goes last, because it names the other documents: a removal
      # that dies is completed by the next one. The record stays while a run is saving: a run that dies after it has
      # written a document would leave that without a record.
      #
      # @param certname [String]
      # @return [Hash{String => Object}] see {Estate#deactivate}
      # @raise [ConflictError] runs of the node kept saving, or one died less than five minutes ago
      # @raise [Error]
      def remove(certname)
        removed = {}
        CompareAndSwap.repeat("'#{certname}' could not be removed: a run of it is saving, or has died while it " \
                              "saved: try again in #{Saving::SAVING_FOR / 60} minutes") do
          removed = removed_once(certname).merge(removed) { |_, now, before| now.is_a?(Integer) ? now + before : now }
          deleted = remove_record(certname)
          CompareAndSwap.overtaken if deleted.nil?
          deleted ? removed.merge('inventory' => true) : removed
        end
      end

      # Removes what expired nodes left. Checks each again, because it may run meanwhile. A node whose run is saving
      # keeps its record, until the next call after five minutes.
      #
      # @yieldparam certname [String] of a node that was removed
      # @yieldparam removed [Hash{String => Object}] see {Estate#deactivate}
      # @param errors [Hash{String => String}, nil] see {Estate#expire}, as for what is raised
      # @return [Array<String>] the names of the nodes that were removed, sorted
      def expire(errors = nil)
        @estate.statuses.expired.sort.select do |certname|
          next unless expired?(certname)

          removed = remove(certname)
          yield certname, removed if block_given?
          true
        rescue ConflictError
          false
        rescue Error => e
          raise if errors.nil? || e.is_a?(TransientError)

          errors[certname] = e.message
          false
        end
      end

      private

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
        return if needed?(stored.value || {})

        @estate.inventory.delete_expected(certname, stored.document) || nil
      end

      # A run that enters its save into the record after this is too late: the record has gone, and the run makes one.
      def needed?(record)
        (record['exports'] || {}).any? || @estate.exports.saving?(record) || @estate.facts.saving?(record)
      end

      def expired?(certname)
        status, record = [@estate.statuses, @estate.inventory].map { |documents| readable(documents, certname) }
        @estate.statuses.expired_of({ certname => status }, { certname => record }).include?(certname)
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
