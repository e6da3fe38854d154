# frozen_string_literal: true

module Simpkv
  module Cli
    # Stores what a PuppetDB knows of a node, unless the node has had a run with Puppet's termini since: its data in the
    # store are newer then.
    #
    # A run replaces the status of its node when its report arrives. Until then, its exports show a run: the status that
    # an import stores has the member `imported`, digests of the exports that imports have stored, or were about to
    # store when they died.
    class PuppetDBNodeImport
      # @param estate [Estate] whose store is a {PuppetDBWrites}
      # @param node [PuppetDBNode]
      def initialize(estate, node)
        @estate = estate
        @node = node
      end

      # Reads the store just before it writes, because nodes run meanwhile.
      #
      # @return [:newer, :changed, :unchanged] `newer` if the node has had a run since
      # @raise [Simpkv::Error]
      def perform
        @estate.store.clear
        status = @estate.statuses.readable(name)
        exports = stored_exports
        return :newer if run_since?(status, exports)

        save(status, exports)
      end

      private

      def name
        @node.name
      end

      # @return [Hash, nil] the digests of the exports that a run or an import has stored; nil if there are none, or if
      #   a save has not ended
      def stored_exports
        exports = (@estate.inventory.readable(name)&.value || {})['exports']
        exports.sort.to_h if exports&.values&.all?
      end

      # A status that cannot be read says nothing.
      def run_since?(stored, exports)
        status = stored&.value || {}
        return true if newer?(status)
        return false unless exports
        return true unless stored

        status.key?('imported') && !Array(status['imported']).include?(digest(exports))
      end

      def newer?(status)
        status['last_seen'].to_s > @node.last_seen
      end

      # Converts everything before it stores something. The status precedes the exports, so that it has their digest
      # even if this process dies.
      def save(stored, exports)
        marks = [exports && digest(exports), digest(new_exports)].compact.uniq
        reports = @estate.reports.missing(name, @node.reports)
        save_facts
        status = @estate.statuses.update(name, known: stored) { |value| status_after(value || {}, marks, reports) }
        return :newer if newer?(status.value)

        save_parts(reports, status.value['runs'])
      end

      def save_parts(reports, runs)
        @estate.exports.save(name, @node.exports, @node.environment, time: @node.exports_timestamp)
        @estate.reports.import(name, reports, runs)
        @estate.store.keys.empty? ? :unchanged : :changed
      end

      def new_exports
        @node.exports.sort.to_h.transform_values { |list| digest(list) }
      end

      def save_facts
        facts = @node.facts
        return unless facts

        @estate.facts.save(name, facts, trusted: @node.trusted, timestamp: @node.facts_timestamp,
                                        produced: @node.facts_produced)
      end

      # A run that ends meanwhile is newer.
      def status_after(status, marks, reports)
        return if newer?(status)

        marks = status['imported'] if marks.one? && Array(status['imported']).include?(marks.first)
        Estate::Reports.numbered(status, reports.length).merge(@node.status, 'imported' => marks)
      end

      def digest(value)
        Estate::Inventory.digest(Codec.encode(value))
      end
    end
  end
end
