# frozen_string_literal: true

require 'json'
require 'simpkv/query/pattern'
require 'simpkv/query/report_details'
require 'simpkv/query/to_char'

module Simpkv
  module Query
    # The functions that compiled queries call in SQLite.
    class SqlFunctions
      NAMES = %i[regexp path_matches fact_path path_text json_dig json_same json_contains canonical number
                 number_order finite to_char report_detail].freeze

      # So many patterns and paths are kept compiled.
      CACHED = 100

      # Equals no JSON value.
      MISSING = Object.new.freeze

      # A component of a path of json_tree, such as .family, ."x.y" or [0].
      COMPONENT = /\.(?:"((?:[^"\\]|\\.)*)"|([^.\["]+))|\[(\d+)\]/m.freeze

      # Adds numbers. SQLite's own sum fails if integers get too large. It is copied for each group.
      class Sum
        # Larger integers become floats.
        INTEGERS = (-(2**62)...(2**62)).freeze
        private_constant :INTEGERS

        def step(number)
          return unless number

          @integers ||= 0
          return @integers += number if number.is_a?(Integer)

          (@floats ||= []) << number
          @floats = [@floats.sum] if @floats.length > 1000
        end

        # @return [Numeric, nil]
        def finalize
          return unless @integers
          return @integers + @floats.sum if @floats

          INTEGERS.cover?(@integers) ? @integers : @integers.to_f
        end
      end

      # @return [Boolean] whether an answer has marks of details
      attr_reader :details

      # @param database [SQLite3::Database]
      # @param secret [String, nil] of the marks of details: see {ReportDetails}; nil for answers without details
      def initialize(database, secret = nil)
        @secret = secret
        @details = false
        @patterns = {}
        @parsed = {}
        @canonical = {}
        @failure = nil
        NAMES.each do |name|
          database.create_function(name.to_s, method(name).arity) do |function, *arguments|
            function.result = call(name, arguments)
          end
        end
        database.define_aggregator('exact_sum', Sum.new)
      end

      # Raises what a function has raised since the last call: an exception must not pass through SQLite.
      #
      # @return [void]
      def check
        failure = @failure
        @failure = nil
        raise failure if failure
      end

      # `text REGEXP pattern`
      def regexp(pattern, text)
        return if text.nil?

        bit(pattern(pattern).match?(text.to_s))
      end

      # @param patterns [String] JSON, a list of patterns and numbers
      # @param path [String] JSON, a list of keys and indexes
      def path_matches(patterns, path)
        patterns = parsed(patterns)
        keys = JSON.parse(path)
        bit(patterns.length == keys.length && patterns.zip(keys).all? { |expected, key| key?(expected, key) })
      end

      # @param name [String] of a fact
      # @param tree [String] a fullkey of json_tree
      # @return [String] JSON, a list of keys and indexes
      def fact_path(name, tree)
        keys = tree.scan(COMPONENT).map do |quoted, plain, index|
          index ? Integer(index, 10) : plain || JSON.parse(%("#{quoted}"))
        end
        JSON.generate([name, *keys])
      end

      # @return [String] the keys of a path as PuppetDB joins them
      def path_text(path)
        JSON.parse(path).join('#~')
      end

      # @param keys [String] JSON, a list of names, of indexes, and of patterns as `{"match": PATTERN}`
      # @return [String, nil] JSON, a list of the values at paths that match
      def json_dig(document, keys)
        return if document.nil?

        values = [JSON.parse(document)]
        parsed(keys).each { |key| values = values.flat_map { |value| inside(value, key) } }
        JSON.generate(values)
      end

      # Whether two JSON texts have the same value. 1 equals 1.0, as in PostgreSQL.
      def json_same(one, other)
        bit(JSON.parse(one) == parsed(other))
      end

      # Whether a JSON text has all that another one has, as PostgreSQL's operator @> finds.
      def json_contains(whole, part)
        bit(contains?(JSON.parse(whole), parsed(part)))
      end

      # @return [String] the same text for lists and objects that are equal
      def canonical(json)
        cached(@canonical, json) { JSON.generate(sorted(JSON.parse(json))) }
      end

      # @return [Numeric, nil] of a text that PostgreSQL takes for a number
      def number(text)
        return unless text.match?(/\A\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,3})?\s*\z/i)

        text.match?(/\A\s*[+-]?\d{1,18}\s*\z/) ? Integer(text, 10) : finite(text.to_f)
      end

      # @param json [String] of a number
      # @param digits [String] of an integer
      # @return [Integer] -1 if the number is less, 0 if it is the same, 1 if it is greater
      def number_order(json, digits)
        JSON.parse(json) <=> Integer(digits, 10)
      end

      # A number that JSON has; nil for infinity.
      def finite(number)
        number if !number.is_a?(Float) || number.finite?
      end

      # A number or a time as PostgreSQL's to_char writes it.
      def to_char(value, mask)
        value && ToChar.format(value, mask)
      end

      # Details of a report, which the index does not have: see {ReportDetails}.
      #
      # @param kind [String]
      # @param certname [String]
      # @param run [Integer, nil]
      # @param token [String, nil] nil for a report without details
      # @param number [Integer, nil] of the event; nil for one whose values nobody may see
      # @return [String, nil] JSON: a mark; an empty list for no log
      def report_detail(kind, certname, run, token, number)
        return if @secret.nil?
        return ('[]' if kind == 'logs') if token.nil? || run.nil?
        return if kind != 'logs' && number.nil?

        @details = true
        ReportDetails.mark(@secret, kind, certname, run, token, number)
      end

      private

      def call(name, arguments)
        public_send(name, *arguments)
      rescue StandardError => e
        @failure ||= e
        nil
      end

      def contains?(whole, part)
        case [whole, part].map(&:class)
        when [Array, Array] then part.all? { |item| whole.any? { |other| contains?(other, item) } }
        when [Hash, Hash] then part.all? { |key, item| contains?(whole.fetch(key, MISSING), item) }
        else whole == part
        end
      end

      def sorted(value)
        case value
        when Hash then value.sort.to_h { |key, member| [key, sorted(member)] }
        when Array then value.map { |item| sorted(item) }
        when Float then value == value.to_i ? value.to_i : value
        else value
        end
      end

      def bit(value)
        value ? 1 : 0
      end

      def pattern(text)
        cached(@patterns, text) { Pattern.compile(text) }
      end

      def parsed(text)
        cached(@parsed, text) { JSON.parse(text) }
      end

      def cached(cache, text)
        cache.fetch(text) do
          cache.clear if cache.length >= CACHED
          cache[text] = yield
        end
      end

      # A number matches an index only, digits match a name only, and any other pattern matches both.
      def key?(expected, key)
        return expected == key if expected.is_a?(Integer)
        return expected == key if expected.match?(/\A\d+\z/)

        pattern(expected).match?(key.to_s)
      end

      def inside(value, key)
        case value
        when Hash then members(value, key)
        when Array then items(value, key)
        else []
        end
      end

      def members(hash, key)
        hash.select { |name, _| wanted?(key, name) }.values
      end

      def items(array, key)
        array.select.with_index { |_, index| key == index || wanted?(key, index.to_s) }
      end

      def wanted?(key, name)
        key.is_a?(Hash) ? pattern("^(?:#{key.fetch('match')})$").match?(name) : key == name
      end
    end
  end
end
