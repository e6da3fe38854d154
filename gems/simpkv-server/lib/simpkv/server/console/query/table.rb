# frozen_string_literal: true

require 'simpkv/server/console/excerpt'

module Simpkv
  module Server
    module Console
      # The rows of an answer as a page shows them: a table if no value has members, and otherwise a tree for each row.
      class QueryTable
        # A cell, or a row as a tree. `certname`: of the node whose page it leads to; nil for none
        Item = Struct.new(:value, :certname)

        NODE = 'certname'
        private_constant :NODE

        # @param rows [Array] of an answer: objects, or values such as the names of facts
        # @return [Array<Hash>] objects only
        def self.records(rows)
          rows.map { |row| row.is_a?(Hash) ? row : { 'value' => row } }
        end

        # @param records [Array<Hash>]
        # @return [Array<String>] the names of their members
        def self.names(records)
          records.flat_map(&:keys).uniq
        end

        # @param rows [Array] as for {.records}
        def initialize(rows)
          @rows = self.class.records(rows)
          @excerpt = Excerpt.new
        end

        # @return [Boolean] whether it is a table
        def flat?
          @rows.none? { |row| row.each_value.any?(Enumerable) }
        end

        # @return [Array<String>]
        def columns
          @columns ||= self.class.names(@rows)
        end

        # @return [Array<Array<Item>>] the cells of the table
        def cells
          @rows.map { |row| columns.map { |name| cell(name, row[name]) } }
        end

        # @return [Array<Item>] the trees, which leave out the name of the node that they lead to
        def trees
          @rows.map { |row| Item.new(@excerpt.of(row.reject { |name, _| name == NODE }), row[NODE]) }
        end

        # @return [Boolean] whether values were shortened: known after {#cells} or {#trees}
        def cut?
          @excerpt.cut?
        end

        private

        def cell(name, value)
          Item.new(value.nil? ? '' : @excerpt.line(value), (value if name == NODE))
        end
      end
    end
  end
end
