# frozen_string_literal: true

require 'simpkv/query/compiler/operand'
require 'simpkv/query/compiler/dotted'

module Simpkv
  module Query
    class Compiler
      # Finds what a client names in an entity.
      class Names
        # The types of fields that sort no rows.
        UNSORTED = %i[expanded facts detailed detail].freeze
        # The types of fields that the index does not have.
        ABSENT = %i[detailed detail].freeze
        private_constant :UNSORTED, :ABSENT

        # @param entity [Entity]
        def initialize(entity)
          @entity = entity
        end

        # @param name [Object] a name, a dotted path, `["parameter", NAME]`, or `["fact", NAME]`
        # @return [Operand] for a condition
        def queried(name)
          field = field_of(name, :query)
          return Operand.of(field) if field

          inside(name) || raise(InvalidError, unknown(name))
        end

        # @param names [Array] of fields and dotted paths
        # @return [Array<Operand>] for an answer
        def answered(names)
          found = names.map { |name| answer(name) }
          missing = names.zip(found).reject(&:last).map { |name, _| quote(name) }
          return found if missing.empty?

          acceptable = @entity.answered.map { |field| quote(field.name) }
          raise InvalidError, "Can't extract unknown '#{@entity.name}' field#{'s' if missing.length > 1} " \
                              "#{list(missing)}. Acceptable fields are #{list(acceptable)}"
        end

        # @return [Operand] for a function, a group, or a subquery
        def column(name)
          operand = answer(name) || raise(InvalidError, unknown(name))
          return operand unless ABSENT.include?(operand.type)

          raise InvalidError, "#{quote(name)} can be extracted only: the index does not have it"
        end

        # @return [Operand] for an order
        def sorted(name)
          field = field_of(name, :answer)
          return Operand.of(field) if field && !UNSORTED.include?(field.type)

          names = @entity.answered.map { |each| quote(each.name) }.join(', ')
          raise InvalidError,
                "Unrecognized column #{quote(name)} specified in :order_by; Supported columns are #{names}"
        end

        private

        def answer(name)
          field = field_of(name, :answer)
          field ? Operand.of(field) : (dotted(name) if name.is_a?(String))
        end

        def field_of(name, use)
          field = name.is_a?(String) ? @entity[name] : nil
          field if field && field[use]
        end

        def inside(name)
          return dotted(name) if name.is_a?(String)

          kind, key, *more = name
          return unless key.is_a?(String) && more.empty?

          case kind
          when 'parameter' then parameter(key)
          when 'fact' then fact(key)
          end
        end

        def parameter(name)
          field = @entity['parameters']
          Operand.new(name, :optional, nil, Place.in(field.sql, [name])) if field
        end

        def fact(name)
          return unless @entity.node

          Operand.new(name, :optional, nil, Place.in('own.value', [], row_of_fact(name)))
        end

        def dotted(name)
          base, *path = Dotted.parse(name)
          field = @entity[base.to_s]
          return if path.empty? || field.nil?

          place = Place.in(field.sql, path) if field.type == :document
          place = fact_place(path) if field.type == :facts
          place && Operand.new(name, type(path), nil, place)
        end

        def type(path)
          return :value if path.any?(Place::Match)

          path.all?(String) ? :document : :indexed
        end

        def fact_place(path)
          fact, *rest = path
          return Place.in('own.value', rest, row_of_fact(fact)) if fact.is_a?(String)

          Place.in(@entity['facts'].sql, path)
        end

        def row_of_fact(name)
          Place::Rows.new(Fragment.new('facts own'), Fragment.of("own.name = ? AND own.node = #{@entity.node}", name))
        end

        def unknown(name)
          "#{quote(name)} is not a queryable object for #{@entity.name}. " \
            "Known queryable objects are #{list(@entity.queried.map { |field| quote(field.name) }.sort)}"
        end

        def quote(name)
          "'#{name.is_a?(String) ? name : JSON.generate(name)}'"
        end

        def list(items)
          return items.join(' and ') if items.length < 3

          "#{items[0..-2].join(', ')}, and #{items.last}"
        end
      end
    end
  end
end
