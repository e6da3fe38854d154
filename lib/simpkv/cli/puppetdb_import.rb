# frozen_string_literal: true

require 'simpkv/cli/progress'
require 'simpkv/cli/puppetdb_node'
require 'simpkv/cli/puppetdb_writes'

module Simpkv
  module Cli
    # Stores what a PuppetDB knows of its active nodes as Puppet's termini would: facts, exported resources, and the
    # time of the last run. Reads the names of all nodes at first, and then the data of some nodes at a time.
    #
    # It leaves out nodes that have had a run since with the terminus, because their data in the store are newer. It
    # reads the status of a node just before it stores the node, because nodes run meanwhile.
    class PuppetDBImport
      # The number of nodes of each request.
      BATCH = 50
      private_constant :BATCH

      # Errors of one node. The others do not depend on them.
      OF_NODE = [InvalidError, TooLargeError, UnencodableError, MalformedError, ConditionError].freeze
      private_constant :OF_NODE

      # @return [Hash{String => String}] by the name of a node, the reason why it was not stored
      attr_reader :failures

      # @return [Hash{Symbol => Integer}] numbers: `changed`, `unchanged` and `newer` nodes, `factsets` and
      #   `resources` read, `documents` stored
      attr_reader :counts

      # @param puppetdb [PuppetDB]
      # @param estate [Estate] whose store is a {PuppetDBWrites}
      def initialize(puppetdb, estate)
        @puppetdb = puppetdb
        @estate = estate
        @failures = {}
        @counts = Hash.new(0)
      end

      # @param title [String] of the progress
      # @return [void]
      # @raise [Failure] PuppetDB does not answer; the message says how far the import came
      # @raise [Simpkv::Error] the store cannot be used
      def run(title)
        names = @puppetdb.names
        Progress.of(title, names.length, 'node') do |progress|
          names.each_slice(BATCH) do |batch|
            nodes(batch).each do |node|
              import(node)
              progress.advance
            end
          end
        end
      end

      # @return [Integer] the number of nodes that are done
      def done
        counts.values_at(:changed, :unchanged, :newer).sum
      end

      private

      # @return [Array<PuppetDBNode>] those of the batch that are still active
      def nodes(batch)
        span = batch.length == 1 ? "of '#{batch.first}'" : "of '#{batch.first}' to '#{batch.last}'"
        rows = @puppetdb.of('nodes', batch, "the nodes #{span}")
        facts = @puppetdb.of('factsets', batch, "the facts #{span}")
        resources = @puppetdb.of('resources', batch, "the exported resources #{span}", ['=', 'exported', true])
        rows.map { |name, (row, _)| PuppetDBNode.new(row, facts.fetch(name, []).first, resources.fetch(name, [])) }
      end

      def import(node)
        stored = @estate.statuses.readable(node.name)
        return counts[:newer] += 1 if seen(stored&.value) > node.last_seen

        @estate.store.clear
        save(node, stored)
        count(node)
      rescue *OF_NODE => e
        failures[node.name] = e.message
      end

      # Converts everything before it stores something.
      def save(node, stored)
        exports = node.exports
        facts = node.facts
        options = { trusted: node.trusted, timestamp: node.facts_timestamp } if facts
        @estate.facts.save(node.name, facts, **options) if facts
        @estate.exports.save(node.name, exports, node.environment)
        @estate.statuses.update(node.name, known: stored) { |status| status_of(node, status || {}) }
      end

      # The run of a node that ends meanwhile is newer.
      def status_of(node, stored)
        stored.merge(node.status) unless seen(stored) > node.last_seen
      end

      # @return [String] the time of the last run; '' if it is unknown
      def seen(status)
        status ? status['last_seen'].to_s : ''
      end

      def count(node)
        written = @estate.store.keys.length
        counts[written.zero? ? :unchanged : :changed] += 1
        counts[:documents] += written
        counts[:factsets] += 1 if node.facts
        counts[:resources] += node.exports.sum { |_, list| list.length }
      end
    end
  end
end
