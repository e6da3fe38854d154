# frozen_string_literal: true

require 'simpkv/termini'

module Simpkv
  module Termini
    # The nodes that a manifest queries. A compiler reads the inventory once.
    module NodeQuery
      # The variable of the compiler that holds the inventory.
      KEPT = :@simpkv_inventory
      private_constant :KEPT

      class << self
        # @param compiler [Puppet::Parser::Compiler]
        # @param filter [Hash, Array] see {Estate::Query}
        # @param names [Array<String>, nil] the facts to return
        # @return [Array<String>, Hash{String => Hash}] the names of the nodes, sorted; with `names`, the values of each
        #   node by its name. Empty if the backend fails and the option `soft` is set
        # @raise [ArgumentError] the filter is invalid, or a fact is not in the inventory
        # @raise [Puppet::Error]
        def answer(compiler, filter, names)
          query = query(filter, names || [])
          nodes = nodes(compiler).select { |certname, record| query.match?(certname, record) }
          return nodes.map(&:first) unless names

          nodes.to_h { |node| [node.first, names.to_h { |name| [name, Estate::Query.value(name, *node)] }] }
        end

        private

        def query(filter, names)
          indexed = Termini.perform('query the nodes', soft: false) { |estate| estate.options['indexed_facts'] }
          Estate::Query.new(filter, indexed).tap { |query| query.known(names) }
        rescue InvalidError => e
          raise ArgumentError, "simpkv::query_nodes: #{e.message}", cause: nil
        end

        def nodes(compiler)
          compiler.instance_variable_get(KEPT) || compiler.instance_variable_set(KEPT, read(compiler.node.name))
        end

        def read(host)
          records = Termini.perform('query the nodes', otherwise: {}, node: host) do |estate|
            estate.inventory.current(strict: true) { |key, why| Termini.malformed(key, why) }
          end
          records.sort
        end
      end
    end
  end
end
