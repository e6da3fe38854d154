# frozen_string_literal: true

module Simpkv
  module Query
    module Pql
      # The words of PQL, and what messages call them.
      module Words
        ENTITIES = %w[catalogs edges environments events fact_contents fact_paths facts factsets inventory nodes
                      package_inventory packages reports resources].freeze
        FUNCTIONS = %w[avg count max min sum to_string].freeze

        # @param names [Array<String>]
        # @return [Regexp] one of the names, of which some begin with another one
        def self.one_of(names)
          Regexp.union(names.sort.reverse)
        end

        ENTITY = one_of(ENTITIES)
        FUNCTION = one_of(FUNCTIONS)
        NAME = /[a-zA-Z0-9_]+\??/.freeze
        DOTTED = /facts|trusted|parameters/.freeze

        # A character that a dot stands for in the regular expressions of Java, and so of PuppetDB.
        CHARACTER = '[^\n\r\u0085\u2028\u2029]'

        # A part of a dotted field: a name in double quotes before a dot or a space; a match; or all characters up to
        # a space or an operator, which can be a brace or a parenthesis.
        OTHERS = '\s.",\[\]!<=>~'
        PART = /"#{CHARACTER}*?"(?=[.\s])|match\(#{CHARACTER}*?\)(?=[#{OTHERS}]|\z)|[^#{OTHERS}]+(?:\[\d+\])?/.freeze

        # What is between quotes. Single quotes have one escape, \'; double quotes have those of JSON.
        IN_SINGLE_QUOTES = /(?:[^'\\]+|\\#{CHARACTER})*/.freeze
        IN_DOUBLE_QUOTES = %r{(?:[^"\\]+|\\(?:["\\/bfnrt]|u\h{4}))*}.freeze

        NUMBER = /-?[0-9]+(?:\.[0-9]+(?:[eE][-+]?[0-9]+)?)?/.freeze

        # For messages.
        AN_ENTITY = "an entity (#{ENTITIES.join(', ')})"
        A_FIELD = 'a field'
        A_FIELD_IN_ORDER = 'a field that does not begin with "asc" or "desc"'
        A_PART = 'a name, a name in double quotes or match("...")'
        A_CONDITION = 'a condition'
        AN_OPERATOR = 'an operator (=, !=, ~, !~, ~>, <, <=, >, >=, in, is null, is not null)'
        A_LIST = 'a list in [ ]'
        A_LIST_OF_TEXTS = 'a list of texts in [ ]'
        A_SUBQUERY = 'a subquery such as nodes[certname] { }'
        A_TEXT = 'a text in quotes'
        A_TEXT_OR_NUMBER = 'a text in quotes or a number'
        A_COUNT = 'a number without a sign'
        AN_ESCAPE = 'one of the escapes \" \\\\ \/ \b \f \n \r \t \u0000'
      end
    end
  end
end
