# frozen_string_literal: true

require 'simpkv/query/entities'
require 'simpkv/query/paging'

module Simpkv
  module Query
    class Compiler
      # The shape of queries.
      module Syntax
        # Lists of a query may be nested so deep: a subquery takes five levels. SQLite's parser has a stack of 100
        # items, of which a subquery takes up to 14; what is too much for it is refused as well.
        DEPTH = 64
        TOO_DEEP = "A query may be nested at most #{DEPTH} deep"

        # A query may have so many operators, names and values.
        TERMS = 20_000

        FROM = 'Your initial query must be of the form: ["from",<entity>,(<optional-query>)]. ' \
               'Check your query and try again.'

        # Fields that say which nodes a query is about.
        STATE_FIELDS = ['node_state', %w[node active]].freeze

        # What follows these operators is values, or the names of fields.
        COMPARISONS = %w[~ ~> > < >= <= null? array].freeze
        # What is meant by the operators of other languages.
        MEANT = { 'gte' => '>=', 'ge' => '>=', 'gt' => '>', 'lte' => '<=', 'le' => '<=', 'lt' => '<', 'eq' => '=',
                  '==' => '=', '=~' => '~', 'regex' => '~', 'matches' => '~', '&&' => 'and', '||' => 'or',
                  '!' => 'not' }.freeze
        private_constant :STATE_FIELDS, :COMPARISONS, :MEANT

        # @param query [Array]
        # @return [InvalidError] that says that there is no such operator
        def self.unknown_operator(query)
          meant = MEANT[query.first.to_s.downcase]
          InvalidError.new("#{JSON.generate(query)} is not well-formed: query operator '#{query.first}' is unknown" \
                           "#{": did you mean '#{meant}'?" if meant}")
        end

        # @param query [Object]
        # @return [void]
        # @raise [InvalidError]
        def self.check(query, depth = 0, count = [0])
          count[0] += 1
          raise InvalidError, "A query has at most #{TERMS} operators, names and values" if count[0] > TERMS

          case query
          when Array then nested(query, depth, count)
          when Hash then nested(query.to_a, depth, count)
          when Integer, Float then number(query)
          when String then text(query)
          end
        end

        def self.nested(items, depth, count)
          raise InvalidError, TOO_DEEP if depth > DEPTH

          items.each { |item| check(item, depth + 1, count) }
        end
        private_class_method :nested

        def self.number(number)
          raise InvalidError, "#{number} is out of range" unless number.finite?
        end
        private_class_method :number

        def self.text(text)
          encoded = [Encoding::UTF_8, Encoding::US_ASCII].include?(text.encoding) && text.valid_encoding?
          raise InvalidError, 'A text of the query is not UTF-8' unless encoded
          raise InvalidError, 'A text of the query has a null character' if text.include?("\0")
        end
        private_class_method :text

        # @return [Array] an operator and its arguments
        def self.operation(query)
          unless query.is_a?(Array) && query.first.is_a?(String)
            raise InvalidError, "#{JSON.generate(query)} is not well-formed: queries must contain at least one operator"
          end

          query
        end

        # @return [Entity]
        def self.entity(name)
          (name.is_a?(String) && Entities::ALL[name]) || raise(InvalidError, "Invalid entity '#{name}' in query")
        end

        # @param query [Array] `["from", ENTITY, QUERY, PAGING...]`
        # @return [Array] the entity, the query or nil, and the paging
        def self.from(query)
          operator, name, *clauses = query.is_a?(Array) ? query : []
          raise InvalidError, FROM unless operator == 'from' && name.is_a?(String)

          inner = clauses.shift unless clause?(clauses.first, Paging::CLAUSES)
          raise InvalidError, FROM unless clauses.all? { |clause| clause?(clause, Paging::CLAUSES) }

          [entity(name), inner, Paging.of_clauses(clauses)]
        end

        # @return [Boolean] whether an item is an operation with one of the names
        def self.clause?(item, names)
          item.is_a?(Array) && names.include?(item.first)
        end

        # @return [Boolean] whether a query says itself which nodes it is about. A value can look like a query
        def self.state?(query)
          return false unless query.is_a?(Array)

          operator, *arguments = query
          case operator
          when '=' then STATE_FIELDS.include?(arguments.first)
          when *COMPARISONS then false
          else arguments.any? { |argument| state?(argument) }
          end
        end
      end
    end
  end
end
