# frozen_string_literal: true

require 'simpkv/query/place'

module Simpkv
  module Query
    class Compiler
      # What a condition compares, a row answers with, or rows are sorted by: a field, or a value inside one.
      class Operand
        # SQL of the JSON of a boolean.
        BOOLEAN = "json(CASE ? WHEN 0 THEN 'false' WHEN 1 THEN 'true' END)"

        # The order of kinds of JSON values in PostgreSQL.
        RANKS = "CASE ? WHEN 'null' THEN 0 WHEN 'text' THEN 1 WHEN 'integer' THEN 2 WHEN 'real' THEN 2 " \
                "WHEN 'true' THEN 3 WHEN 'false' THEN 3 WHEN 'object' THEN 5 " \
                "WHEN 'array' THEN CASE json_array_length(?) WHEN 0 THEN -1 ELSE 4 END END"

        # The keys of a path, separated so that a path sorts before the paths below it.
        KEYS = "replace(path_text(?), '#~', char(1))"

        # The types of JSON values that can equal a field.
        TYPES = { string: "'text'", timestamp: "'text'", integer: "'integer', 'real'",
                  boolean: "'true', 'false'" }.freeze

        # @return [String] as the client names it, and as the answer does
        attr_reader :name

        # @return [Symbol] the type of a field; `document` for a dotted path, `indexed` for one with an index, `value`
        #   for one with a pattern; `optional` for a fact or a parameter
        attr_reader :type

        # @return [Place, nil] of a value
        attr_reader :place

        # @param field [Entity::Field]
        # @return [Operand]
        def self.of(field)
          case field.type
          when :value, :document then new(field.name, field.type, nil, Place.in(field.sql))
          when :facts then new(field.name, :document, nil, Place.in(field.sql))
          when :element then new(field.name, :value, nil, Place.element(field.sql))
          else new(field.name, field.type, Fragment.new(field.sql))
          end
        end

        def initialize(name, type, sql, place = nil)
          @name = name
          @type = type
          @sql = sql
          @place = place
        end

        # @return [Fragment] the value of a column, to compare
        def sql
          @sql || place.json
        end

        # @param other [Operand]
        # @return [Array<Fragment>] what equals the same of the other operand if both have the same value
        def comparable(other)
          return [@sql] unless place
          return place.identity if other.place

          [place.scalar_of(TYPES.fetch(other.type, "'array'"))]
        end

        # @return [Array<Fragment>] what is the same in all rows of a group
        def group
          place ? place.identity : [@sql]
        end

        # @return [Fragment] what json_object takes
        def json
          return Fragment.of('json(?)', place.json) if place

          case type
          when :boolean then Fragment.of(BOOLEAN, @sql)
          when :tags, :path, :leaf, :detail then Fragment.of('json(?)', @sql)
          else @sql
          end
        end

        # @return [Array<Fragment>] what sorts rows
        def ordering
          return [Fragment.of(RANKS, place.type, place.value), place.scalar] if place

          [%i[path leaf].include?(type) ? Fragment.of(KEYS, @sql) : @sql]
        end
      end
    end
  end
end
