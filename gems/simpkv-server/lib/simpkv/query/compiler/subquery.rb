# frozen_string_literal: true

require 'simpkv/query/compiler/select'
require 'simpkv/query/compiler/syntax'

module Simpkv
  module Query
    class Compiler
      # Compiles queries inside conditions. Its methods yield an inner entity and a condition, to have that compiled.
      module Subquery
        # The relation of most entities.
        NODE = [['certname'], ['certname']].freeze
        # The numbers of rows, by the columns of their names. Numbers are quicker to compare, and stay in memory where
        # the names of all reports of a large site do not.
        NUMBERS = { 'n.certname' => 'n.id', 'r.hash' => 'r.id' }.freeze
        private_constant :NUMBERS

        # `["subquery", ENTITY, QUERY]`
        #
        # @param outer [Entity]
        # @return [Fragment]
        def self.implicit(outer, arguments)
          raise InvalidError, 'subquery requires an entity and a query' unless arguments.length == 2

          inner = Syntax.entity(arguments.first)
          fields = Entities.relation(outer, inner)
          raise InvalidError, "No implicit relationship for entity '#{inner.name}'" unless fields

          columns = fields == NODE ? node_columns(outer, inner) : nil
          columns ||= comparable(*[outer, inner].zip(fields).map { |entity, names| operands(entity, names) })
          rows = Select.new(inner, columns.last, yield(inner, arguments.last)).fragment
          Fragment.of('((?) IN (?))', Fragment.join(columns.first, ', '), rows)
        end

        # Numbers are quicker to compare than names.
        def self.node_columns(*entities)
          entities.map { |entity| [Fragment.new(entity.node)] } if entities.all?(&:node)
        end
        private_class_method :node_columns

        # @param sides [Array<Array<Fragment>>] the columns of both sides
        # @return [Array<Array<Fragment>>] the numbers in place of names that are unique
        def self.numbers(*sides)
          number = NUMBERS[sides.first.first.sql] if sides.flatten.map(&:sql).uniq.one?
          number ? sides.map { [Fragment.new(number)] } : sides
        end
        private_class_method :numbers

        def self.operands(entity, names)
          names.map { |name| Names.new(entity).queried(name) }
        end
        private_class_method :operands

        # @param outer [Array<Operand>]
        # @param inner [Array<Operand>] as many
        # @return [Array(Array<Fragment>, Array<Fragment>)] columns that are equal if the operands are
        def self.comparable(outer, inner)
          pairs = outer.zip(inner)
          [pairs.flat_map { |one, other| one.comparable(other) }, pairs.flat_map { |one, other| other.comparable(one) }]
        end
        private_class_method :comparable

        # `["in", FIELDS, QUERY]`, where the query is `["extract", FIELDS, ["select_ENTITY", QUERY]]` or
        # `["from", ENTITY, ["extract", FIELDS, QUERY], PAGING...]`.
        #
        # @param names [Names] of the outer entity
        # @return [Fragment]
        def self.explicit(names, fields, query)
          outer = (list?(fields) ? fields : [fields]).map { |field| names.queried(field) }
          inner, extracted, condition, paging = parts(query)
          outer, columns = numbers(*comparable(outer, extracted_operands(inner, extracted, outer.length)))
          rows = Select.new(inner, columns, condition && yield(inner, condition), paging: paging)
          Fragment.of('((?) IN (?))', Fragment.join(outer, ', '), rows.fragment)
        end

        # PuppetDB compares with the first columns if a subquery extracts more than the outer query compares.
        def self.extracted_operands(inner, extracted, number)
          extracted = [extracted] unless extracted.is_a?(Array)
          unless number.between?(1, extracted.length)
            raise InvalidError, 'in requires as many fields as its subquery extracts'
          end

          names = Names.new(inner)
          extracted.first(number).map { |field| names.column(field) }
        end
        private_class_method :extracted_operands

        # A list of fields, and not a field such as `["fact", NAME]`.
        def self.list?(fields)
          fields.is_a?(Array) && !(fields.length == 2 && %w[fact parameter].include?(fields.first))
        end
        private_class_method :list?

        def self.parts(query)
          operator, *arguments = Syntax.operation(query)
          case operator
          when 'extract' then selected(arguments)
          when 'from' then from(query)
          else raise InvalidError, "in requires an extract, from or array, and not '#{operator}'"
          end
        end
        private_class_method :parts

        def self.selected(arguments)
          raise InvalidError, 'extract in a subquery requires fields and a subquery' unless arguments.length == 2

          name, *rest = Syntax.operation(arguments.last)
          entity = name[/\Aselect_(\w+)\z/, 1] || raise(InvalidError, "Unsupported subquery '#{name}'")
          raise InvalidError, "#{name} takes at most one query" if rest.length > 1

          [Syntax.entity(entity), arguments.first, rest.first, Paging.none]
        end
        private_class_method :selected

        def self.from(query)
          entity, inner, paging = Syntax.from(query)
          operator, fields, condition, *more = inner
          unless operator == 'extract' && fields && more.empty?
            raise InvalidError, 'from in a subquery requires an extract without functions'
          end

          [entity, fields, condition, paging]
        end
        private_class_method :from
      end
    end
  end
end
