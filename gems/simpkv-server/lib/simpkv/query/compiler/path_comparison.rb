# frozen_string_literal: true

require 'simpkv/query/pattern'

module Simpkv
  module Query
    class Compiler
      # A condition on the path of a fact.
      module PathComparison
        # A key that json_tree writes without quotes.
        BARE = /\A[A-Za-z][A-Za-z0-9]*\z/.freeze

        # Paths are compared one by one only in facts whose name has such a path at all.
        NAMES = 'f.name IN (SELECT name FROM fact_paths WHERE path_matches(?, path)) AND '

        # @return [Fragment]
        def self.of(operator, operand, value)
          case operator
          when '=' then equal(operand, value)
          when '~>' then elements(operand, value)
          when '~' then Fragment.of('path_text(?) REGEXP ?', operand.sql, Pattern.check(value))
          else raise InvalidError, "Query operator #{operator} is not allowed on field #{operand.name}"
          end
        end

        def self.equal(operand, value)
          unless value.is_a?(Array) && value.all? { |key| key.is_a?(String) || key.is_a?(Integer) }
            raise InvalidError, 'A path must be an array of strings and integers'
          end
          return Fragment.of('? = ?', operand.sql, JSON.generate(value)) unless operand.type == :leaf

          name, *keys = value
          Fragment.of('(f.name = ? AND j.fullkey = ?)', name, tree(keys))
        end
        private_class_method :equal

        # @return [String] a path as json_tree writes it
        def self.tree(keys)
          steps = keys.map do |key|
            next "[#{key}]" if key.is_a?(Integer)

            ".#{key.match?(BARE) ? key : JSON.generate(key)}"
          end
          steps.unshift('$').join
        end
        private_class_method :tree

        # The entity fact_paths matches whole keys, and fact_contents parts of them.
        def self.whole(pattern)
          pattern.is_a?(Integer) || pattern.match?(/\A\d+\z/) ? pattern : "^(?:#{pattern})$"
        end
        private_class_method :whole

        def self.elements(operand, value)
          unless value.is_a?(Array) && value.all? { |key| key.is_a?(Integer) || Pattern.check(key) }
            raise InvalidError, '~> requires an array of regular expressions and integers'
          end

          whole = JSON.generate(value.map { |key| whole(key) })
          return Fragment.of('path_matches(?, ?)', whole, operand.sql) if operand.type == :path

          patterns = JSON.generate(value)
          Fragment.of("(#{NAMES}path_matches(?, ?))", patterns, patterns, operand.sql)
        end
        private_class_method :elements
      end
    end
  end
end
