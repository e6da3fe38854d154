# frozen_string_literal: true

require 'simpkv/estate/node_filter'

module Simpkv
  class Estate
    # The nodes that have left something in the estate, by two lists of the store: their statuses and their inventory
    # records; or the declared nodes that have left nothing. Deactivated nodes are in neither list. A node is a Hash
    # with {COLUMNS}, `noop`, `expired` and `facts` (of the inventory, without {Secrets}). A node whose status cannot be
    # read is in no list: nobody knows how its last run ended.
    class NodeList
      # The columns of the table.
      COLUMNS = %w[name environment last_seen status changes failures].freeze

      # The members of a node that a filter can name, beside facts.
      MEMBERS = [*COLUMNS, 'noop', 'expired'].freeze

      # @return [Hash{String => String}] the documents that could not be read, by their keys, and why
      attr_reader :errors

      # @param estate [Estate]
      def initialize(estate)
        @estate = estate
        @secrets = Secrets.new(estate, false)
        @errors = {}
        @deactivated = []
      end

      # @param texts [Array<String>] see {NodeFilter}
      # @return [Array<NodeFilter>]
      # @raise [InvalidError] one of them is wrong, or they need too much time
      def filters(texts)
        facts = @estate.options['indexed_facts']
        NodeFilter.limited do
          texts.map { |text| NodeFilter.new(text, MEMBERS, facts, @estate.case_sensitive?, @estate.secret_names) }
        end
      end

      # @param filters [Array<NodeFilter>] each must match
      # @param order [String] the column to sort by; nodes without a value come last
      # @param reverse [Boolean] whether to reverse the order of the nodes with a value
      # @param never_run [Boolean] true: the declared nodes that have had no run, in place of the others
      # @return [Array<Hash>]
      # @raise [InvalidError] the filters need too much time
      def nodes(filters: [], order: 'name', reverse: false, never_run: false)
        sorted(matching(never_run ? declared : all, filters), order, reverse)
      end

      # @return [Hash{String => Hash{String => String}}] the {#errors} of each node, by its name
      def unreadable
        @errors.group_by { |key, _| name_of(key) }.sort.to_h { |name, errors| [name, errors.sort.to_h] }
      end

      # @param known [Array<Hash>] the {#nodes} that have had a run
      # @return [Integer] the number of the declared nodes that have not. One that is {#unreadable} has left a document
      def never_run(known)
        declared = names_of(@estate.nodes).map { |name| UnsafeCharacters.escaped(name) }
        (declared - known.map { |node| node['name'] } - unreadable.keys - @deactivated).length
      end

      private

      def matching(nodes, filters)
        return nodes if filters.empty?

        NodeFilter.limited { nodes.select { |node| filters.all? { |filter| filter.match?(node) } } }
      end

      def sorted(nodes, order, reverse)
        without, with = nodes.partition { |node| node[order].nil? }
        with = with.sort_by { |node| [node[order], node['name']] }
        (reverse ? with.reverse : with) + without.sort_by { |node| node['name'] }
      end

      # @return [Array<Hash>] the declared nodes of which there is neither a status nor a record of the inventory
      def declared
        known = [@estate.statuses, @estate.inventory].flat_map { |documents| names_of(documents) }
        records = @estate.nodes.all { |key, why| @errors[key] = why }
        (records.keys - known).map do |name|
          node(UnsafeCharacters.escaped(name), {}, records[name].slice('environment'), false)
        end
      end

      def all
        statuses = records_of(@estate.statuses)
        records = records_of(@estate.inventory)
        expired = @estate.statuses.expired_of(statuses, records)
        active(statuses.keys | records.keys, records).map do |name|
          node(UnsafeCharacters.escaped(name), statuses[name] || {}, records[name] || {}, expired.include?(name))
        end
      end

      # @return [Array<String>] the names of the nodes that are not deactivated, and whose status can be read
      def active(names, records)
        known = names.reject { |name| @errors.key?("#{@estate.statuses.path}/#{name}") }
        deactivated, active = known.partition { |name| Deactivation.of?(records[name] || {}) }
        @deactivated = deactivated.map { |name| UnsafeCharacters.escaped(name) }
        active
      end

      def records_of(documents)
        documents.all { |key, why| @errors[key] = why }
      end

      def names_of(documents)
        documents.names { |key, why| @errors[key] = why }
      end

      # @param key [String] of a document
      # @return [String] the node that it is about
      def name_of(key)
        UnsafeCharacters.escaped(key[%r{[^/]+\z}])
      end

      def node(name, status, record, expired)
        { 'name' => name, 'environment' => status['environment'] || record['environment'],
          'last_seen' => Statuses.last_seen(status, record), 'status' => status['status'],
          'changes' => status['changes'], 'failures' => status['failures'], 'noop' => status['noop'],
          'expired' => expired, 'facts' => @secrets.facts(record['facts'] || {}) }
      end
    end
  end
end
