# frozen_string_literal: true

require 'simpkv/query/compiler/functions'

module Simpkv
  module Query
    class Compiler
      # The columns of an answer: all fields of an entity, or those of an `extract`.
      class Projection
        # json_object takes 127 arguments.
        COLUMNS = 60

        # @return [Array<Fragment>]
        attr_reader :group

        # @param entity [Entity]
        # @param columns [Array, String, nil] the second item of an extract
        # @param group [Array] names of fields, and functions
        def initialize(entity, columns = nil, group = [])
          @entity = entity
          @names = Names.new(entity)
          @wanted = columns.is_a?(Array) ? columns : [columns].compact
          @group = grouped(group)
          check_group(group)
        end

        # @return [Fragment] the JSON text of a row
        def row
          members = @wanted.empty? ? all : extracted
          return sole if @entity.sole && @wanted.all?(@entity.sole)
          raise InvalidError, "An answer has at most #{COLUMNS} columns" if members.length > COLUMNS

          Fragment.of('json_object(?)', Fragment.join(numbered(members).flatten, ', '))
        end

        # @return [Hash{String => Fragment}] the first call of each aggregate function, by its name in a row. PuppetDB
        #   sorts rows by fields only
        def calls
          aggregates = functions.select { |call| Functions.aggregate?(call) }
          aggregates.map { |call| Functions.call(call, @names) }.reverse.to_h
        end

        private

        def sole
          operand = Operand.of(@entity[@entity.sole])
          return operand.json if operand.type == :detail

          operand.place ? Fragment.of('json(?)', operand.json) : Fragment.of('json_quote(?)', operand.json)
        end

        def all
          @entity.answered.map { |field| [field.name, Operand.of(field).json] }
        end

        def extracted
          operands = @names.answered(@wanted - functions)
          calls = functions.map { |call| Functions.call(call, @names) }
          calls + operands.map { |operand| [operand.name, operand.json] }
        end

        def functions
          @wanted.select { |column| Functions.call?(column) }
        end

        # Another column of the same name has its number in its name.
        def numbered(members)
          counts = Hash.new(0)
          members.map do |name, sql|
            number = counts[name] += 1
            [Fragment.of('?', number > 1 ? "#{name}_#{number}" : name), sql]
          end
        end

        def grouped(group)
          group.flat_map do |column|
            Functions.call?(column) ? [grouped_call(column)] : grouped_field(column)
          end
        end

        def grouped_field(name)
          @names.answered([name])
          @names.column(name).group
        end

        def grouped_call(call)
          raise InvalidError, "#{JSON.generate(call)} cannot be in group_by" if Functions.aggregate?(call)

          Functions.call(call, @names).last
        end

        # PostgreSQL refuses a column that may differ within a group.
        def check_group(group)
          aggregates = functions.any? { |call| Functions.aggregate?(call) }
          return unless aggregates || !group.empty?

          others = @wanted.reject { |column| Functions.call?(column) && Functions.aggregate?(column) } - group
          return if others.empty?

          raise InvalidError, "#{JSON.generate(others.first)} must be in group_by, or in an aggregate function"
        end
      end
    end
  end
end
