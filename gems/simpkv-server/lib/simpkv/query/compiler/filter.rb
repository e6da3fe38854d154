# frozen_string_literal: true

require 'simpkv/query/compiler/comparison'
require 'simpkv/query/compiler/names'
require 'simpkv/query/compiler/subquery'

module Simpkv
  module Query
    class Compiler
      # Compiles the condition of a query on one entity.
      class Filter
        BINARY = ['=', '~', '~>', *Comparison::ORDER].freeze

        STATES = { 'active' => Select::ACTIVE,
                   'inactive' => '(n.deactivated IS NOT NULL OR n.expired IS NOT NULL)', 'any' => '1' }.freeze

        # Compiles a condition inside a subquery.
        INNER = ->(entity, condition) { new(entity).compile(condition) }

        # @param entity [Entity]
        def initialize(entity)
          @entity = entity
          @names = Names.new(entity)
        end

        # @param query [Array]
        # @return [Fragment]
        # @raise [InvalidError]
        def compile(query)
          operator, *arguments = Syntax.operation(query)
          case operator
          when 'and', 'or' then junction(operator, arguments)
          when 'not' then negation(arguments)
          when 'null?' then null(arguments)
          when 'in' then membership(arguments)
          when 'subquery' then Subquery.implicit(@entity, arguments, &INNER)
          when *BINARY then binary(operator, arguments)
          else raise Syntax.unknown_operator(query)
          end
        end

        private

        def junction(operator, arguments)
          raise InvalidError, "'#{operator}' takes at least one argument, but none were supplied" if arguments.empty?

          Fragment.junction(arguments.map { |argument| compile(argument) }, operator.upcase)
        end

        def negation(arguments)
          unless arguments.length == 1
            raise InvalidError, "'not' takes exactly one argument, but #{arguments.length} were supplied"
          end

          Fragment.of('(NOT ?)', compile(arguments.first))
        end

        def null(arguments)
          raise InvalidError, 'null? requires exactly two arguments' unless arguments.length == 2

          name, absent = arguments
          raise InvalidError, 'The second argument of null? is true or false' unless [true, false].include?(absent)

          Fragment.of('(?)', Comparison.null(@names.queried(name), absent))
        end

        def membership(arguments)
          raise InvalidError, 'in requires exactly two arguments' unless arguments.length == 2

          fields, list = arguments
          operator, *rest = Syntax.operation(list)
          return Subquery.explicit(@names, fields, list, &INNER) unless operator == 'array'

          values = rest.first
          raise InvalidError, 'Operator array requires a vector argument' unless rest.length == 1 && values.is_a?(Array)

          among(fields, values)
        end

        def among(fields, values)
          fields = fields.first if fields.is_a?(Array) && fields.length == 1
          Fragment.of('(?)', Comparison.among(@names.queried(fields), values))
        end

        def binary(operator, arguments)
          raise InvalidError, "#{operator} requires exactly two arguments" unless arguments.length == 2

          name, value = arguments
          return state(value) if name == 'node_state' && operator == '='
          return active(value) if name == %w[node active] && operator == '='

          Fragment.of('(?)', Comparison.of(operator, @names.queried(name), value))
        end

        def state(value)
          sql = STATES[value] || raise(InvalidError, "node_state is 'active', 'inactive' or 'any'")
          Fragment.new(@entity.node ? sql : '1')
        end

        def active(value)
          raise InvalidError, '["node", "active"] is true or false' unless [true, false].include?(value)

          state(value ? 'active' : 'inactive')
        end
      end
    end
  end
end
