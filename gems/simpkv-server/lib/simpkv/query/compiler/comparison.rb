# frozen_string_literal: true

require 'simpkv/query/compiler/path_comparison'
require 'simpkv/query/compiler/value_comparison'
require 'simpkv/query/timestamp'

module Simpkv
  module Query
    class Compiler
      # A condition on one field: an operator, an operand and a value of the client.
      module Comparison
        ORDER = ValueComparison::ORDER

        # The Ruby classes of values that a type compares with.
        CLASSES = { string: [String], integer: [Numeric], boolean: [TrueClass, FalseClass], tags: [String] }.freeze

        TAGS = 'EXISTS (SELECT 1 FROM json_each(?) tag WHERE ?)'

        # @param operator [String]
        # @param operand [Operand]
        # @return [Fragment]
        def self.of(operator, operand, value)
          return ValueComparison.of(operator, operand, value) if operand.place
          return PathComparison.of(operator, operand, value) if %i[path leaf].include?(operand.type)

          case operator
          when '=' then equal(operand, value)
          when '~' then match(operand, value)
          when *ORDER then ordered(operator, operand, value)
          else raise InvalidError, "Query operator #{operator} is not allowed on field #{operand.name}"
          end
        end

        # @return [Fragment] whether a field is null
        def self.null(operand, absent)
          return ValueComparison.null(operand, absent) if operand.place

          Fragment.of(absent ? '? IS NULL' : '? IS NOT NULL', operand.sql)
        end

        # @param values [Array]
        # @return [Fragment] whether a field is one of the values
        def self.among(operand, values)
          return ValueComparison.among(operand, values) if operand.place
          return each_of(operand, values) if %i[path leaf tags].include?(operand.type)

          values = values.compact.map { |value| member(operand, value) }
          Fragment.of("? IN #{ValueComparison::LIST}", operand.sql, JSON.generate(values))
        end

        def self.each_of(operand, values)
          ValueComparison.any(values.map { |value| of('=', operand, value) })
        end
        private_class_method :each_of

        def self.equal(operand, value)
          return Fragment.of(operand.type == :timestamp ? '? IS NULL' : '? = NULL', operand.sql) if value.nil?
          return tag(operand, '=', value) if operand.type == :tags

          Fragment.of('? = ?', operand.sql, converted(operand, value))
        end
        private_class_method :equal

        # A field without a value does not match, so that its negation does.
        def self.match(operand, value)
          raise InvalidError, "Query operator ~ is not allowed on field #{operand.name}" unless
            %i[string tags].include?(operand.type)
          return Fragment.of('? = NULL', operand.sql) if value.nil?
          return tag(operand, 'REGEXP', Pattern.check(value)) if operand.type == :tags

          regexp = Fragment.of('coalesce(? REGEXP ?, 0)', operand.sql, Pattern.check(value))
          literal = Pattern.literal(value)
          literal ? literal(operand.sql, literal, regexp) : regexp
        end
        private_class_method :match

        # SQLite finds a text in many much faster than Ruby does. It knows upper and lower case of ASCII only.
        def self.literal(sql, text, regexp)
          Fragment.of("(coalesce(? LIKE ? ESCAPE '\\', 0) OR (length(?) <> length(CAST(? AS BLOB)) AND ?))",
                      sql, "%#{text.gsub(/[%_\\]/) { |character| "\\#{character}" }}%", sql, sql, regexp)
        end
        private_class_method :literal

        def self.ordered(operator, operand, value)
          unless %i[integer timestamp].include?(operand.type)
            raise InvalidError, "Query operators >,>=,<,<= are not allowed on field #{operand.name}"
          end
          unless operand.type == :timestamp || value.is_a?(Numeric)
            raise InvalidError,
                  "Argument #{JSON.generate(value.to_s)} and operator \"#{operator}\" have incompatible types."
          end

          Fragment.of("? #{operator} ?", operand.sql, converted(operand, value))
        end
        private_class_method :ordered

        # The field `tag` is compared without regard to case, and the same list as `tags` with it. Tags are lower-case.
        def self.tag(operand, operator, value)
          value = member(operand, value)
          value = operator == '=' ? value.downcase : "(?i)#{value}" if operand.name == 'tag'
          plain = operator == '=' && value.match?(ValueComparison::PLAIN)
          return ValueComparison.holding(operand.sql, value) if plain

          Fragment.of(TAGS, operand.sql, Fragment.of("tag.value #{operator} ?", value))
        end
        private_class_method :tag

        # A value of a list for `in`, which may be a number where the field is a text.
        def self.member(operand, value)
          value = value.to_s if operand.type == :string && value.is_a?(Numeric)
          converted(operand, value)
        end
        private_class_method :member

        # @return [Object] a value as the column has it
        def self.converted(operand, value)
          return timestamp(value) if operand.type == :timestamp

          unless CLASSES.fetch(operand.type).any? { |type| value.is_a?(type) }
            raise InvalidError, incompatible(operand, value)
          end

          operand.type == :boolean ? bit(value) : value
        end
        private_class_method :converted

        def self.bit(value)
          value ? 1 : 0
        end
        private_class_method :bit

        def self.timestamp(value)
          Timestamp.normalize(value) || raise(InvalidError, "'#{value}' is not a valid timestamp value")
        end
        private_class_method :timestamp

        def self.incompatible(operand, value)
          kind = operand.type == :integer ? 'numeric' : operand.type
          "Argument #{JSON.generate(value.is_a?(String) ? value : JSON.generate(value))} is incompatible with " \
            "#{kind} field \"#{operand.name}\"."
        end
        private_class_method :incompatible
      end
    end
  end
end
