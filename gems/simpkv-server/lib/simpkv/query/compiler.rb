# frozen_string_literal: true

require 'simpkv/query/compiler/event_counts'
require 'simpkv/query/compiler/options'
require 'simpkv/query/compiler/syntax'
require 'simpkv/query/compiler/filter'
require 'simpkv/query/compiler/projection'
require 'simpkv/query/compiler/select'

module Simpkv
  module Query
    # Compiles queries in PuppetDB's AST to SQL.
    #
    #   statement = Compiler.new('nodes').compile(['=', 'certname', 'web1'], Paging.none)
    #   database.execute(statement.rows.sql, statement.rows.binds)
    class Compiler
      # Entities that are counts of others.
      EVENTS = { 'event_counts' => 'events', 'aggregate_event_counts' => 'events' }.freeze

      # `rows` has one column, the JSON text of each row; `total` is the number of rows of all pages.
      Statement = Struct.new(:rows, :total)

      # @param entity [String, nil] a name as in a path, such as fact-contents; nil if the query begins with `from`
      # @param options [Hash{String => Object}] see {Options}
      # @raise [InvalidError]
      def initialize(entity, options = {})
        @name = entity&.tr('-', '_')
        @options = Options.new(options, @name)
        @entity = Entities[EVENTS.fetch(@name, @name)] if entity
        raise InvalidError, "Invalid entity '#{entity}' in query" if entity && @entity.nil?
      end

      # @param query [Array, nil]
      # @param paging [Paging]
      # @return [Statement]
      # @raise [InvalidError]
      def compile(query, paging = Paging.none)
        Syntax.check(query)
        return counts(query, paging) if EVENTS.key?(@name)
        return statement(@entity, query, paging, @entity.active?) if @entity

        entity, query, own = Syntax.from(query)
        statement(entity, query, paging.over(own), entity.node)
      end

      private

      # @param active [Object] whether to leave out inactive nodes, unless the query says otherwise
      def statement(entity, query, paging, active)
        columns, condition, group = parts(query)
        projection = Projection.new(entity, columns, group)
        select = Select.new(entity, [projection.row], restricted(entity, condition),
                            paging: paging, group: projection.group, calls: projection.calls,
                            active: active && !Syntax.state?(query))
        Statement.new(select.fragment, select.total)
      end

      def counts(query, paging)
        raise InvalidError, 'Counts of events take no extract' if Syntax.clause?(query, ['extract'])

        counts = EventCounts.new(@options, restricted(@entity, query))
        return Statement.new(*counts.rows(paging)) if @name == 'event_counts'
        raise InvalidError, 'Aggregates of events have no pages' unless paging == Paging.none

        Statement.new(*counts.aggregates)
      end

      def restricted(entity, condition)
        conditions = [condition && Filter.new(entity).compile(condition), @options.distinct].compact
        Fragment.join(conditions, ' AND ') unless conditions.empty?
      end

      # @return [Array] the columns of an extract or nil, the condition or nil, and the names of group_by
      def parts(query)
        return [nil, query, []] unless Syntax.clause?(query, ['extract'])

        columns, *clauses = query.drop(1)
        group = Syntax.clause?(clauses.last, ['group_by']) ? clauses.pop.drop(1) : nil
        unless clauses.length < 2 && group != [] && columns
          raise InvalidError, "#{JSON.generate(clauses.last)} is not a valid expression for \"extract\""
        end

        [columns, clauses.first, group || []]
      end
    end
  end
end
