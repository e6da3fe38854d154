# frozen_string_literal: true

require 'simpkv/query/compiler/names'

module Simpkv
  module Query
    class Compiler
      # A SELECT of some columns of an entity.
      class Select
        # PostgreSQL's place of nulls.
        ORDERS = { 'asc' => 'ASC NULLS LAST', 'desc' => 'DESC NULLS FIRST' }.freeze

        # The node of each row, at the end of a source; and what names it.
        JOIN = / JOIN nodes n ON n\.id = [a-z.]+\z/.freeze
        NODE = /\bn\./.freeze
        # Conditions for rows of active nodes: where a row has its node, and where it has only the node's id.
        ACTIVE = '(n.deactivated IS NULL AND n.expired IS NULL)'
        OTHERS = 'SELECT id FROM nodes WHERE deactivated IS NOT NULL OR expired IS NOT NULL'
        private_constant :JOIN, :NODE, :OTHERS

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
        # @param more [Hash{Symbol => Object}] `calls`: what rows can be sorted by beside fields, see
        #   {Projection#calls}; `active`: whether to leave out rows of nodes that are not active
        def initialize(entity, columns, condition = nil, group: [], paging: Paging.none, **more)
          @entity = entity
          @columns = columns
          @condition = condition
          @group = group
          @paging = paging
          @calls = more.fetch(:calls, {})
          @active = more.fetch(:active, false)
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
          source, active = place
          conditions = [@entity.where, (active if @active)].compact.map { |sql| Fragment.new(sql) }
          conditions.push(*@condition)
          clauses = [Fragment.of("SELECT ? FROM #{source}", columns)]
          clauses << Fragment.of('WHERE ?', Fragment.join(conditions, ' AND ')) unless conditions.empty?
          clauses << Fragment.of('GROUP BY ?', Fragment.join(@group, ', ')) unless @group.empty?
          Fragment.join(clauses, ' ')
        end

        # @return [Array(String, String)] what stands after FROM, and the condition for rows of active nodes
        def place
          source = @entity.source
          alone?(source) ? [source.sub(JOIN, ''), "#{@entity.node} NOT IN (#{OTHERS})"] : [source, ACTIVE]
        end

        # SQLite looks for the node of each row, also where nothing is asked about nodes: with half a million resources,
        # that is half of the time.
        #
        # @return [Boolean] whether rows do without their nodes
        def alone?(source)
          source.match?(JOIN) &&
            [*@columns, *@condition, *@group, *order].none? { |fragment| fragment.sql.match?(NODE) }
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
