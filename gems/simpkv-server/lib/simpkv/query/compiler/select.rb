# frozen_string_literal: true

require 'simpkv/query/compiler/names'

module Simpkv
  module Query
    class Compiler
      # A SELECT of some columns of an entity.
      class Select
        # PostgreSQL's place of nulls.
        ORDERS = { 'asc' => 'ASC NULLS LAST', 'desc' => 'DESC NULLS FIRST' }.freeze

        # @param paging [Paging]
        # @return [Fragment, nil]
        def self.limit(paging)
          return unless paging.limit || paging.offset

          # OFFSET needs a LIMIT in SQLite.
          Fragment.of('LIMIT ? OFFSET ?', paging.limit || -1, paging.offset || 0)
        end

        # @param entity [Entity]
        # @param columns [Array<Fragment>]
        # @param condition [Fragment, nil]
        # @param group [Array<Fragment>]
        # @param paging [Paging]
        # @param calls [Hash{String => Fragment}] what rows can be sorted by beside fields: see {Projection#calls}
        def initialize(entity, columns, condition = nil, group: [], paging: Paging.none, calls: {})
          @entity = entity
          @columns = columns
          @condition = condition
          @group = group
          @paging = paging
          @calls = calls
        end

        # @return [Fragment]
        def fragment
          Fragment.join([body, order, self.class.limit(@paging)].compact, ' ')
        end

        # @return [Fragment] the number of rows of all pages
        def total
          Fragment.of('SELECT count(*) FROM (?)', body)
        end

        private

        def body
          columns = Fragment.join(@columns, ', ')
          conditions = [@entity.where && Fragment.new(@entity.where), @condition].compact
          clauses = [Fragment.of("SELECT ? FROM #{@entity.source}", columns)]
          clauses << Fragment.of('WHERE ?', Fragment.join(conditions, ' AND ')) unless conditions.empty?
          clauses << Fragment.of('GROUP BY ?', Fragment.join(@group, ', ')) unless @group.empty?
          Fragment.join(clauses, ' ')
        end

        def order
          orders = @paging.order_by
          orders = [[@entity.sole, 'asc']] if orders.empty? && @entity.sole && @entity[@entity.sole].type == :string
          return if orders.empty?

          keys = orders.flat_map do |name, direction|
            ordering(name).map { |sql| Fragment.of("? #{ORDERS.fetch(direction)}", sql) }
          end
          Fragment.of('ORDER BY ?', Fragment.join(keys, ', '))
        end

        def ordering(name)
          @calls.key?(name) ? [@calls[name]] : Names.new(@entity).sorted(name).ordering
        end
      end
    end
  end
end
