# frozen_string_literal: true

require 'json'
require 'simpkv/query/fragment'

module Simpkv
  module Query
    # A JSON value that a query names: a column, or the values at a path inside one. It has the SQL of the type of the
    # value (as SQLite's json_type names it), of the value itself, and of its JSON text.
    class Place
      # Any key that matches a pattern of PostgreSQL as a whole.
      Match = Struct.new(:pattern)

      # Rows with the column, if it is not one of the row of the entity: what stands after FROM and after WHERE.
      Rows = Struct.new(:tables, :where)

      # Keys that stand in double quotes in a path of SQLite. There is no way to write others.
      PLAIN = /\A[^"\\\u0000-\u001f]+\z/.freeze

      # A key that is the index of an array as well.
      INDEX = /\A\d{1,9}\z/.freeze

      # The JSON text of a row of json_each or json_tree. Its value is a float if an integer has more than 64 bits.
      ELEMENT = "CASE %<row>s.type WHEN 'true' THEN 'true' WHEN 'false' THEN 'false' WHEN 'null' THEN 'null' " \
                "WHEN 'object' THEN %<row>s.value WHEN 'array' THEN %<row>s.value " \
                "ELSE coalesce(CASE WHEN %<row>s.type = 'integer' AND typeof(%<row>s.value) = 'real' " \
                'THEN %<row>s.json -> %<row>s.fullkey END, json_quote(%<row>s.value)) END'

      NUMBER = "CASE ? WHEN 'integer' THEN ? WHEN 'real' THEN ? WHEN 'text' THEN number(?) END"

      KIND = "CASE ? WHEN 'integer' THEN 'number' WHEN 'real' THEN 'number' ELSE ? END"

      KEY = "CASE WHEN ? IN ('object', 'array') THEN canonical(?) ELSE ? END"

      # @return [Fragment]
      attr_reader :type, :value

      # @return [Fragment] the JSON text of {#value}
      attr_reader :text

      # @return [Fragment, nil] the JSON text that has the value somewhere; nil if there is none
      attr_reader :document

      # @param column [String] SQL of a JSON text
      # @param path [Array<String, Integer, Match>]
      # @param rows [Rows, nil]
      # @return [Place]
      def self.in(column, path = [], rows = nil)
        return new(*expressions(column, path), rows, Fragment.new(column)) if path.all? { |key| plain?(key) }

        keys = JSON.generate(path.map { |key| key.is_a?(Match) ? { 'match' => key.pattern } : key })
        dug = Fragment.of("json_each(json_dig(#{column}, ?)) dug", keys)
        element('dug', rows ? Rows.new(Fragment.of('?, ?', rows.tables, dug), rows.where) : Rows.new(dug))
      end

      # @param row [String] the name of a row of json_each or json_tree
      # @return [Place]
      def self.element(row, rows = nil)
        new(Fragment.new("#{row}.type"), Fragment.new("#{row}.value"), Fragment.new(format(ELEMENT, row: row)), rows)
      end

      def self.expressions(column, path)
        if path.empty?
          return ["json_type(#{column})", "json_extract(#{column}, '$')", column].map { |sql| Fragment.new(sql) }
        end

        text = path.map { |key| key.is_a?(Integer) ? "[#{key}]" : %(."#{key}") }.unshift('$').join
        ["json_type(#{column}, ?)", "json_extract(#{column}, ?)", "#{column} -> ?"].map { |sql| Fragment.of(sql, text) }
      end
      private_class_method :expressions

      def self.plain?(key)
        key.is_a?(Integer) || (key.is_a?(String) && key.match?(PLAIN) && !key.match?(INDEX))
      end
      private_class_method :plain?

      def initialize(type, value, text, rows = nil, document = nil)
        @type = type
        @value = value
        @text = text
        @rows = rows
        @document = document
      end

      # @param condition [Fragment] of {#type}, {#value} and {#text}
      # @return [Fragment] whether it is true for a value at the path; NULL if there is none
      def holds(condition)
        among_rows('max(?)', condition)
      end

      # @param condition [Fragment] see {#holds}
      # @return [Fragment] whether it is true for a value at the path; false if there is none
      def surely_holds(condition)
        return Fragment.of('coalesce(?, 0)', condition) unless @rows

        Fragment.of('EXISTS (SELECT 1 FROM ? WHERE ? AND ?)', @rows.tables, @rows.where || Fragment.new('1'), condition)
      end

      # @return [Fragment] the JSON text of the first value, or NULL
      def json
        among_rows('?', text, ' LIMIT 1')
      end

      # @return [Fragment] a value that can be sorted: a number, a text, 0 or 1 for a boolean
      def scalar
        among_rows('?', @value, ' LIMIT 1')
      end

      # @return [Array<Fragment>] two values that are the same for equal JSON values, and for no others
      def identity
        [Fragment.of(KIND, type, type), Fragment.of(KEY, type, value, value)].map do |fragment|
          among_rows('?', fragment, ' LIMIT 1')
        end
      end

      # @param types [String] SQL of a list of types
      # @return [Fragment] a scalar of one of the types, or NULL
      def scalar_of(types)
        among_rows('?', Fragment.of("CASE WHEN ? IN (#{types}) THEN ? END", type, value), ' LIMIT 1')
      end

      # @return [Fragment] a number, also one that is written as a text, or NULL for other values
      def number
        among_rows('?', Fragment.of(NUMBER, type, value, value, value), ' LIMIT 1')
      end

      private

      def among_rows(template, fragment, limit = '')
        return fragment unless @rows

        where = @rows.where ? Fragment.of(' WHERE ?', @rows.where) : Fragment.new('')
        Fragment.of("(SELECT #{template} FROM ??#{limit})", fragment, @rows.tables, where)
      end
    end
  end
end
