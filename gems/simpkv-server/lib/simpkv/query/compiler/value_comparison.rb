# frozen_string_literal: true

require 'simpkv/query/pattern'

module Simpkv
  module Query
    class Compiler
      # A condition on a JSON value. Values of different kinds are never equal; numbers are equal if they are the same
      # number.
      module ValueComparison
        ORDER = %w[> < >= <=].freeze

        # A text that is itself in JSON, but for the quotes around it.
        PLAIN = /\A[[:alnum:]_:.-]+\z/.freeze

        # The items of a JSON list.
        LIST = '(SELECT value FROM json_each(?))'

        NUMBER = "? IN ('integer', 'real')"

        # A scalar as text, and a list or an object as JSON. NULL for null.
        TEXT = "CASE ? WHEN 'true' THEN 'true' WHEN 'false' THEN 'false' ELSE ? END"

        # @return [Fragment]
        def self.of(operator, operand, value)
          place = operand.place
          case operator
          when '=' then equality(operand, equal(place, value, operand.type))
          when '~' then verdict(operand, match(place, value))
          when *ORDER then verdict(operand, ordered(operator, place, value))
          else raise InvalidError, "Query operator #{operator} is not allowed on field #{operand.name}"
          end
        end

        # @return [Fragment] whether a value is null in JSON. A value that is missing is neither null nor not.
        def self.null(operand, absent)
          place = operand.place
          verdict(operand, Fragment.of("? #{absent ? '=' : '<>'} 'null'", place.type))
        end

        # @return [Fragment] whether a value is one of a list
        def self.among(operand, values)
          place = operand.place
          texts, others = values.partition { |value| value.is_a?(String) }
          numbers, others = others.partition { |value| value.is_a?(Numeric) && !Fragment.large?(value) }
          conditions = others.uniq.map { |value| equal(place, value) }
          conditions << one_of(place, "? IS 'text'", texts) unless texts.empty?
          conditions << one_of(place, NUMBER, numbers) unless numbers.empty?
          place.surely_holds(any(conditions))
        end

        # @return [Fragment] whether one of the conditions is true
        def self.any(conditions)
          conditions.empty? ? Fragment.new('0') : Fragment.junction(conditions, 'OR')
        end

        # Whether an equality holds. A missing value equals none, but at a path with an index it is unknown.
        def self.equality(operand, condition)
          place = operand.place
          return place.surely_holds(condition) unless operand.type == :indexed

          place.holds(Fragment.of('CASE WHEN ? IS NOT NULL THEN ? END', place.type, condition))
        end
        private_class_method :equality

        def self.one_of(place, kind, values)
          Fragment.of("(#{kind} AND ? IN #{LIST})", place.type, place.value, JSON.generate(values))
        end
        private_class_method :one_of

        # A condition on a fact or parameter that is missing is false; on a path that is missing it is unknown.
        def self.verdict(operand, condition)
          operand.type == :optional ? operand.place.surely_holds(condition) : operand.place.holds(condition)
        end
        private_class_method :verdict

        # PuppetDB finds in an object with dotted paths whatever has the members of a value, and the items in any order.
        def self.equal(place, value, type = :value)
          case value
          when String then text(place, value)
          when Numeric then number('=', place, value)
          when Array then same(place, 'array', value, type)
          when Hash then same(place, 'object', value, type)
          else Fragment.of('(? IS ?)', place.type, value.nil? ? 'null' : value.to_s)
          end
        end
        private_class_method :equal

        # To look for the text in a document takes much less time than to parse the document.
        def self.text(place, value)
          equal = Fragment.of("(? IS 'text' AND ? = ?)", place.type, place.value, value)
          return equal unless place.document && value.match?(PLAIN)

          Fragment.of('(? AND ?)', holding(place.document, value), equal)
        end
        private_class_method :text

        # @param text [String] that is {PLAIN}
        # @return [Fragment] whether a JSON text has it, as a name or a value
        def self.holding(document, text)
          Fragment.of('instr(?, ?) > 0', document, %("#{text}"))
        end

        def self.same(place, kind, value, type)
          function = type == :document ? 'json_contains' : 'json_same'
          Fragment.of("(CASE WHEN ? IS '#{kind}' THEN #{function}(?, ?) ELSE 0 END)", place.type, place.value,
                      JSON.generate(value))
        end
        private_class_method :same

        def self.match(place, value)
          return Fragment.new('NULL') if value.nil?

          Fragment.of('? REGEXP ?', Fragment.of(TEXT, place.type, place.value), Pattern.check(value))
        end
        private_class_method :match

        def self.ordered(operator, place, value)
          unless value.is_a?(Numeric)
            text = value.is_a?(String) ? value : JSON.generate(value)
            raise InvalidError, "Argument #{JSON.generate(text)} and operator \"#{operator}\" have incompatible types."
          end

          number(operator, place, value)
        end
        private_class_method :ordered

        # SQLite compares integers of more than 64 bits as floats, so that many of them would be the same.
        def self.number(operator, place, value)
          return Fragment.of("(#{NUMBER} AND ? #{operator} ?)", place.type, place.value, value) unless
            Fragment.large?(value)

          Fragment.of("(#{NUMBER} AND number_order(?, ?) #{operator} 0)", place.type, place.text, value.to_s)
        end
        private_class_method :number
      end
    end
  end
end
