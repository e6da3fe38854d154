# frozen_string_literal: true

require 'parslet'
require 'simpkv/query/pql/atoms'
require 'simpkv/query/pql/words'

module Simpkv
  module Query
    module Pql
      # The grammar of PQL as PuppetDB 7.12 reads it, which is strict in some places and lax in others:
      # spec/puppetdb/pql_spec.rb compares the two.
      #
      # A node of the tree is a Hash with one key, its name. Transform has a method for each.
      class Grammar < Parslet::Parser
        include Words

        root(:query)

        rule(:query) { space? >> from >> space? >> token(/\z/, 'the end of the query') }

        # nodes[certname] { ... }
        rule(:from) { (entity(AN_ENTITY) >> space? >> (columns.as(:columns) >> space?).maybe >> block).as(:from) }
        rule(:columns) { between('[', list(column).maybe, ']') }
        rule(:block) { between('{', clauses, '}') }
        rule(:clauses) { (condition.as(:condition) >> (space? >> modifiers).maybe) | modifiers | token(//) }

        # certname, facts.os.family, count(), to_string(end_time, 'DAY')
        rule(:column) { function | field }
        rule(:function) do
          (token(FUNCTION).as(:name) >> space? >> between('(', arguments.maybe.as(:arguments), ')')).as(:function)
        end
        rule(:arguments) { (field | text(nil)).repeat(1, 1) >> (comma >> text(A_TEXT)).repeat }
        rule(:field) { (dotted | token(NAME, A_FIELD)).as(:field) }
        rule(:dotted) { token(DOTTED) >> (word('.', nil) >> token(PART, A_PART)).repeat(1) }

        # Conditions.
        rule(:condition) { chain(conjunction, 'or').as(:or) }
        rule(:conjunction) { chain(term, 'and').as(:and) }
        rule(:term) { negation | parentheses | subquery | comparison | comparison_of_several }
        rule(:negation) { word('!', A_CONDITION) >> space? >> Nested.new(term).as(:not) }
        rule(:parentheses) { between('(', Nested.new(condition), ')', A_CONDITION) }
        rule(:subquery) do
          (entity(nil) >> space? >> between('{', Nested.new(condition).as(:condition), '}')).as(:subquery)
        end
        rule(:comparison) do
          left = (dotted | token(NAME, A_CONDITION)).as(:field)
          tests = null | matched_path | compared | negated | ordered | member
          (left.as(:left) >> space? >> tests.as(:test)).as(:comparison)
        end
        rule(:comparison_of_several) do
          left = between('[', list(column), ']', A_CONDITION).as(:columns)
          (left.as(:left) >> space? >> member.as(:test)).as(:comparison)
        end

        # What follows the field in a condition.
        rule(:null) { token(/is (?:not )?null/, AN_OPERATOR).as(:null) }
        rule(:matched_path) { operation(/~>/, patterns.as(:list)).as(:compare) }
        rule(:compared) { (operation(/=/, literal) | operation(/~/, text(A_TEXT))).as(:compare) }
        rule(:negated) { operation(/![=~]/, literal).as(:negate) }
        rule(:ordered) { operation(/[<>]=?/, text(A_TEXT_OR_NUMBER) | number(A_TEXT_OR_NUMBER)).as(:compare) }
        rule(:member) { token(/in/, AN_OPERATOR) >> space? >> (literals.as(:array) | subselect).as(:member) }
        rule(:subselect) do
          Nested.new((entity(A_SUBQUERY) >> space? >> columns.as(:columns) >> space? >> block).as(:from))
        end

        # Values.
        rule(:literal) do
          text(A_TEXT) | number('a number') | token(/true|false/, 'true, false').as(:boolean) | literals.as(:list)
        end
        rule(:patterns) { between('[', list(text(A_TEXT)), ']', A_LIST_OF_TEXTS) }
        rule(:literals) { between('[', Nested.new(list(literal)), ']', A_LIST) }

        # What follows the condition. Either of the two may also be alone.
        rule(:modifiers) { group_by.as(:group) | Separated.new(page, space?).as(:pages) }
        rule(:group_by) { word('group by') >> space >> list(column) }
        rule(:page) { order_by | count('limit') | count('offset') }
        rule(:order_by) { word('order by') >> space >> list(order).as(:order_by) }
        rule(:order) do
          name = token(/(?!asc|desc)/, A_FIELD_IN_ORDER) >> field
          (name.as(:name) >> (space >> token(/asc|desc/, '"asc", "desc"').as(:direction)).maybe).as(:order)
        end

        rule(:space?) { token(/\s*/) }
        rule(:space) { token(/\s+/, 'a space') }
        rule(:comma) { space? >> word(',') >> space? }

        private

        # @return [Token]
        def token(pattern, expected = nil)
          Token.new(pattern, expected)
        end

        # @return [Token] this text
        def word(text, expected = %("#{text}"))
          token(/#{Regexp.escape(text)}/, expected)
        end

        # @return [Parslet::Atoms::Base] something between two words
        def between(first, inner, last, expected = %("#{first}"))
          word(first, expected) >> space? >> inner >> space? >> word(last)
        end

        # @return [Parslet::Atoms::Base] items with commas between them
        def list(item)
          Separated.new(item, comma)
        end

        # @return [Parslet::Atoms::Base] items with an operator and spaces between them
        def chain(item, operator)
          Separated.new(item, space >> word(operator) >> space)
        end

        def entity(expected)
          token(ENTITY, expected).as(:entity)
        end

        # @return [Parslet::Atoms::Base] an operator and what it compares with
        def operation(operator, value)
          token(operator, AN_OPERATOR).as(:operator) >> space? >> value.as(:value)
        end

        def text(expected)
          (word("'", expected) >> token(IN_SINGLE_QUOTES).as(:single) >> word("'", "the closing '")) |
            (word('"', expected) >> token(IN_DOUBLE_QUOTES).as(:double) >> token(/(?!\\)/, AN_ESCAPE) >>
              word('"', 'the closing "'))
        end

        def number(expected)
          token(NUMBER, expected).as(:number)
        end

        def count(name)
          word(name) >> space >> token(/[0-9]+/, A_COUNT).as(name.to_sym)
        end
      end
    end
  end
end
