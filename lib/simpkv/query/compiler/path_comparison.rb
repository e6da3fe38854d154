# frozen_string_literal: true

require 'simpkv/query/pattern'

module Simpkv
  module Query
    class Compiler
      # A condition on the path of a fact.
      module PathComparison
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

          Fragment.of('? = ?', operand.sql, JSON.generate(value))
        end
        private_class_method :equal

        def self.elements(operand, value)
          unless value.is_a?(Array) && value.all? { |key| key.is_a?(Integer) || Pattern.check(key) }
            raise InvalidError, '~> requires an array of regular expressions and integers'
          end

          Fragment.of('path_matches(?, ?)', JSON.generate(value), operand.sql)
        end
        private_class_method :elements
      end
    end
  end
end
