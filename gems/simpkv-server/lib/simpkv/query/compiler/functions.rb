# frozen_string_literal: true

require 'simpkv/query/to_char'

module Simpkv
  module Query
    class Compiler
      # Calls of functions in an `extract`: `["function", NAME, FIELD, FORMAT]`.
      module Functions
        NAMES = %w[count avg sum min max to_string].freeze

        # The types of fields that a function takes. Of JSON values it takes those that are numbers.
        TYPES = { 'avg' => %i[integer value], 'sum' => %i[integer value],
                  'min' => %i[integer value string timestamp], 'max' => %i[integer value string timestamp],
                  'to_string' => %i[integer value timestamp] }.freeze

        def self.call?(column)
          column.is_a?(Array) && column.first == 'function'
        end

        def self.aggregate?(call)
          call[1] != 'to_string'
        end

        # @param names [Names]
        # @return [Array(String, Fragment)] the name of the function, and its SQL
        def self.call(call, names)
          _, function, field, *rest = call
          raise InvalidError, "Function #{JSON.generate(function)} is unknown" unless NAMES.include?(function)
          return [function, Fragment.new('count(*)')] if function == 'count' && field.nil?

          operand = names.column(field)
          [function, function == 'to_string' ? to_string(operand, rest) : aggregate(function, operand, rest)]
        end

        def self.aggregate(function, operand, rest)
          raise InvalidError, "Function #{function} takes at most one field" unless rest.empty?
          return Fragment.of('count(?)', operand.json) if function == 'count'

          sql = { 'sum' => 'finite(exact_sum(?))', 'avg' => 'finite(avg(?))' }.fetch(function, "#{function}(?)")
          Fragment.of(sql, argument(function, operand))
        end
        private_class_method :aggregate

        def self.to_string(operand, rest)
          raise InvalidError, 'Function to_string requires a field and a format' unless rest.length == 1

          mask = ToChar.check(rest.first, operand.type == :timestamp)
          Fragment.of('to_char(?, ?)', argument('to_string', operand), mask)
        end
        private_class_method :to_string

        def self.argument(function, operand)
          unless TYPES.fetch(function).include?(operand.place ? :value : operand.type)
            raise InvalidError, "Function #{function} does not take field #{operand.name}"
          end

          operand.place ? operand.place.number : operand.sql
        end
        private_class_method :argument
      end
    end
  end
end
