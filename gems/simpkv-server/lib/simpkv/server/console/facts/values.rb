# frozen_string_literal: true

require 'simpkv/server/console/facts/path'

module Simpkv
  module Server
    module Console
      # Asks for the values at the path of a fact, in PuppetDB's query language. There are three ways:
      #
      # - a whole fact is a row of `facts`;
      # - a part of it is a column of `inventory`, which has all nodes;
      # - a part whose path cannot be a column, such as `networking.interfaces."eth0.1".bindings[0]`, is a row of
      #   `fact_contents`, which takes longer, and has no objects and lists.
      class FactValues
        # Bytes of a value in the address of a page: Puma has a limit for these.
        LINKED = 2000
        private_constant :LINKED

        # - `value`: of JSON
        # - `nodes`: the number of nodes that have it
        # - `link`: JSON for the address of the page of these nodes; nil if there is none
        # - `absent`: whether the nodes have no value there, or null
        Row = Struct.new(:value, :nodes, :link, :absent)

        # @return [String] as in a path of the API
        attr_reader :entity

        # @param path [FactPath]
        def initialize(path)
          @entity, @column, @condition =
            if path.whole? then ['facts', 'value', ['=', 'name', path.name]]
            elsif path.field then ['inventory', path.field, nil]
            else ['fact-contents', 'value', ['=', 'path', path.keys]]
            end
        end

        # @return [Array] the query for the values, each with the number of its nodes
        def counts
          ['extract', [%w[function count], @column], *[@condition].compact, ['group_by', @column]]
        end

        # @param rows [Array<Hash>] of the answer to {#counts}
        # @return [Array<Row>] the most frequent value first
        def read(rows)
          # A part that is null and one that is missing are two rows, which look the same.
          counts = rows.each_with_object(Hash.new(0)) { |row, sums| sums[row[@column]] += row['count'] }
          counts.map { |value, count| Row.new(value, count, link(value), value.nil? && inventory?) }
                .sort_by { |row| [-row.nodes, Native.generate(row.value)] }
        end

        # @param value [Object]
        # @return [Array] the query for the nodes with this value
        def nodes(value)
          equal = value.nil? ? ['null?', @column, true] : ['=', @column, value]
          ['extract', %w[certname environment], ['and', *[@condition].compact, equal]]
        end

        # @return [String] the query for the nodes without a value, JSON
        def without
          found = @condition || ['null?', @column, false]
          Native.generate(['from', 'nodes',
                           ['extract', %w[certname], ['not', ['subquery', @entity.tr('-', '_'), found]]],
                           ['order_by', %w[certname]]])
        end

        private

        # PuppetDB finds parts that have the members of an object or the items of a list, and others beside them.
        def link(value)
          return if inventory? && (value.nil? || value.is_a?(Enumerable))

          text = Native.generate(value)
          text if text.bytesize <= LINKED
        end

        def inventory?
          @entity == 'inventory'
        end
      end
    end
  end
end
