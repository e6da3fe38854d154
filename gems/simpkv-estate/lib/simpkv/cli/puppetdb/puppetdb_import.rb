# frozen_string_literal: true

require 'simpkv/cli/progress'
require 'simpkv/cli/puppetdb/puppetdb_node'
require 'simpkv/cli/puppetdb/puppetdb_node_import'
require 'simpkv/cli/puppetdb/puppetdb_writes'
require 'simpkv/cli/workers'

module Simpkv
  module Cli
    # Stores what a PuppetDB knows of its active nodes as Puppet's termini would: facts, exported resources, reports,
    # and the time of the last run. Reads the names of all nodes at first, and then the data of some nodes at a time,
    # while threads store those that it has read.
    class PuppetDBImport
      # The number of nodes of each request.
      BATCH = 50
      private_constant :BATCH

      # Errors of one node. The others do not depend on them.
      OF_NODE = [InvalidError, TooLargeError, UnencodableError, MalformedError, ConditionError].freeze
      private_constant :OF_NODE

      # @return [Hash{String => String}] by the name of a node, the reason why it was not stored
      attr_reader :failures

      # @return [Hash{Symbol => Integer}] numbers: `changed`, `unchanged` and `newer` nodes, `factsets`,
      #   `resources` and `reports` read, `documents` stored
      attr_reader :counts

      # @param puppetdb [PuppetDB]
      # @param estates [Array<Estate>] one for each thread, whose store is a {PuppetDBWrites}
      def initialize(puppetdb, estates)
        @puppetdb = puppetdb
        @jobs = estates.length
        @reports = estates.first.options['reports']
        @estates = estates.each_with_object(Queue.new) { |estate, queue| queue << estate }
        @failures = {}
        @counts = Hash.new(0)
        @lock = Mutex.new
      end

      # @param title [String] of the progress
      # @return [void]
      # @raise [Failure] PuppetDB does not answer; the message says how far the import came
      # @raise [Simpkv::Error] the store cannot be used
      def run(title)
        names = @puppetdb.names
        Progress.of(title, names.length, 'node') do |progress|
          Workers.share(names.each_slice(BATCH).lazy.flat_map { |batch| nodes(batch) }, @jobs) do |node|
            import(node)
            progress.advance
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
        packages = @puppetdb.packages(batch, "the packages #{span}")
        rows.map do |name, (row, _)|
          PuppetDBNode.new(row, facts.fetch(name, []).first, resources.fetch(name, []), reports(row),
                           packages.fetch(name, []))
        end
      end

      # Reads the reports of one node at a time: PuppetDB cannot limit their number for each of several.
      def reports(row)
        row['latest_report_hash'] && @reports.positive? ? @puppetdb.reports(row['certname'], @reports) : []
      end

      def import(node)
        estate = @estates.pop
        outcome = PuppetDBNodeImport.new(estate, node).perform
        @lock.synchronize { count(node, outcome, estate.store.keys.length) }
      rescue *OF_NODE => e
        @lock.synchronize { failures[node.name] = e.message }
      ensure
        @estates << estate
      end

      def count(node, outcome, written)
        counts[outcome] += 1
        return if outcome == :newer

        counts[:documents] += written
        counts[:factsets] += 1 if node.facts
        counts[:resources] += node.exports.sum { |_, list| list.length }
        counts[:reports] += node.reports.length
      end
    end
  end
end
