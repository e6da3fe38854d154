# frozen_string_literal: true

require 'simpkv/query/workers'

module Simpkv
  module Server
    # The work of clients that is not done in the process of the service, but by the workers for queries, with their
    # limits: it has the clients' regular expressions, whose time nobody can tell (docs/adr/0066). Thread-safe.
    class Work
      # Inspection rules that a worker reads and applies, as {Native::Rules} does.
      class Rules
        # @param json [String]
        # @param work [Work]
        # @raise [Simpkv::InvalidError, TooLargeError] the rules are wrong
        def initialize(json, work)
          @json = json
          @work = work
          @work.rules(@json)
        end

        # @param input [String] JSON
        # @return [String] JSON
        def inspect_node(input)
          @work.rules(@json, input)
        end
      end
      private_constant :Rules

      # @param workers [Query::Workers]
      def initialize(workers)
        @workers = workers
      end

      # @param estate [Estate]
      # @param filters [Array<String>] see {Estate::NodeFilter}
      # @param nodes [Array<Hash>] of {Estate::NodeList}
      # @return [Array<Hash>] those that match
      # @raise [Simpkv::InvalidError] a filter is wrong, or needs too much time
      def matching(estate, filters, nodes)
        return nodes if filters.empty?

        numbers = @workers.perform('task' => 'nodes', 'filters' => filters, 'nodes' => nodes,
                                   'facts' => estate.options['indexed_facts'],
                                   'case_sensitive' => estate.case_sensitive?,
                                   'secret_names' => estate.options['secret_names'])
        nodes.values_at(*numbers)
      end

      # @param json [String] rules
      # @param input [String, nil] JSON
      # @return [String, nil] the output for the input
      # @raise [Simpkv::InvalidError, TooLargeError]
      def rules(json, input = nil)
        @workers.perform({ 'task' => 'rules', 'rules' => json, 'input' => input }.compact)
      end

      # @return [#call] see {Inspection.engine}
      def engine
        ->(json) { Rules.new(json, self) }
      end

      # Ends the workers.
      #
      # @return [void]
      def stop
        @workers.close
      end
    end
  end
end
