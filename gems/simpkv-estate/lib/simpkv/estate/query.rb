# frozen_string_literal: true

module Simpkv
  class Estate
    # A condition for nodes, on the records of the inventory. It is a Hash of names and values, all of which must hold:
    #
    #     { 'os.name' => 'Debian', 'environment' => ['production', 'testing'], 'certname' => /^web/ }
    #
    # or nested Arrays:
    #
    #     [['os.name', '==', 'Debian'], 'and', ['processors.count', '>', 4]]
    #
    # An Array may have Hashes inside. A name is an indexed fact, `certname` or `environment`. As in the Puppet
    # language, `==` and `in` ignore the case of text. A number is equal to the text of the same number, and text is
    # ordered by the numbers in it ('9' < '10', '12.9' < '12.10'), because facts have numbers of both types.
    class Query
      OPERATORS = {
        '==' => ->(fact, value) { Values.equal?(fact, value) },
        '!=' => ->(fact, value) { !Values.equal?(fact, value) },
        '=~' => ->(fact, value) { Values.match?(fact, value) },
        'in' => ->(fact, value) { value.any? { |member| Values.equal?(fact, member) } },
        '<' => ->(fact, value) { Values.compare(fact, value)&.negative? },
        '>' => ->(fact, value) { Values.compare(fact, value)&.positive? },
        '<=' => ->(fact, value) { Values.compare(fact, value)&.<=(0) },
        '>=' => ->(fact, value) { Values.compare(fact, value)&.>=(0) }
      }.freeze

      # Names that are no facts.
      OTHERS = %w[certname environment].freeze

      # The types of values that a fact can be compared with.
      VALUES = [String, Numeric, Regexp, TrueClass, FalseClass, NilClass, Array, Hash].freeze
      private_constant :OPERATORS, :OTHERS, :VALUES

      # @param filter [Hash, Array] see above
      # @param indexed [Array<String>] the names of indexed facts
      # @raise [InvalidError] it is no condition, or a name is unknown; shows no value
      def initialize(filter, indexed)
        @indexed = indexed
        @condition = condition(filter)
      end

      # @param names [Array<String>]
      # @return [Array<String>] the same names
      # @raise [InvalidError] one is unknown
      def known(names)
        names.each { |name| check(name) }
      end

      # @param certname [String]
      # @param record [Hash] of the inventory
      # @return [Boolean]
      def match?(certname, record)
        @condition.call(certname, record) ? true : false
      end

      # @param name [String] an indexed fact, `certname` or `environment`
      # @param certname [String]
      # @param record [Hash] of the inventory
      # @return [Object, nil] its value for a node
      def self.value(name, certname, record)
        case name
        when 'certname' then certname
        when 'environment' then record[name]
        else (record['facts'] || {})[name]
        end
      end

      private

      def condition(filter)
        filter.is_a?(Hash) ? all_of(filter) : nested(filter)
      end

      def all_of(filter)
        conditions = filter.map { |name, value| comparison(name, operator_for(value), value) }
        ->(certname, record) { conditions.all? { |condition| condition.call(certname, record) } }
      end

      def operator_for(value)
        case value
        when Regexp then '=~'
        when Array then 'in'
        else '=='
        end
      end

      def nested(filter)
        invalid(filter) unless filter.is_a?(Array) && filter.length == 3
        left, operator, right = filter
        refuse("two filters are joined by 'and' or 'or'") if left.is_a?(Enumerable) && !%w[and or].include?(operator)
        return comparison(*filter) unless %w[and or].include?(operator)

        either(operator == 'and', condition(left), condition(right))
      end

      def either(both, left, right)
        return ->(*node) { left.call(*node) && right.call(*node) } if both

        ->(*node) { left.call(*node) || right.call(*node) }
      end

      def comparison(name, operator, value)
        check(name)
        compare = OPERATORS[operator]
        refuse("the operator after '#{name}' must be #{OPERATORS.keys.join(', ')}") unless compare
        check_value(name, operator, value)
        ->(certname, record) { compare.call(Query.value(name, certname, record), value) }
      end

      def check(name)
        refuse('a name of a fact must be a String') unless name.is_a?(String)
        return if OTHERS.include?(name) || @indexed.include?(name)

        refuse("'#{name}' is not in the inventory: add it to the option 'indexed_facts' of 'estate' " \
               "(#{(OTHERS + @indexed).join(', ')} are there). The next run of each node stores it")
      end

      def check_value(name, operator, value)
        unless VALUES.any? { |type| value.is_a?(type) }
          refuse("the value of '#{name}' must be text, a number, a boolean, undef, an Array, a Hash or a regular " \
                 "expression, not #{value.class.name.split('::').last}")
        end
        refuse("the value of '#{name}' for 'in' must be an Array") if operator == 'in' && !value.is_a?(Array)
        check_pattern(name, value) if operator == '=~'
      end

      def check_pattern(name, value)
        return if value.is_a?(Regexp)

        refuse("the value of '#{name}' for '=~' must be a regular expression") unless value.is_a?(String)
        Regexp.new(value)
      rescue RegexpError => e
        refuse("the value of '#{name}' for '=~' is no regular expression: #{e.message.sub(%r{: /.*}m, '')}")
      end

      def invalid(filter)
        refuse("a filter must be a Hash of names and values, [name, operator, value] or [filter, 'and' or 'or', " \
               "filter], and not #{filter.is_a?(Array) ? "an Array of #{filter.length}" : filter.class}")
      end

      def refuse(why)
        raise InvalidError, why
      end

      # Comparisons of the value of a fact, nil for none, with the value of a filter.
      module Values
        class << self
          def equal?(fact, value)
            return fact == value if fact.nil? || value.nil? || [fact, value].any?(Enumerable)

            fact == value || text(fact).casecmp?(text(value)) || false
          end

          def match?(fact, value)
            pattern = value.is_a?(Regexp) ? value : Regexp.new(value)
            !fact.nil? && pattern.match?(text(fact))
          end

          # @return [Integer, nil] as `<=>`; nil if they have no order
          def compare(fact, value)
            numbers = [fact, value].map { |each| number(each) }
            return numbers.first <=> numbers.last if numbers.all? && [fact, value].any?(Numeric)

            order(fact, value) if [fact, value].all?(String)
          end

          private

          def text(value)
            value.is_a?(Float) && value == value.to_i ? value.to_i.to_s : value.to_s
          end

          def number(value)
            value.is_a?(String) ? Float(value) : (value if value.is_a?(Numeric))
          rescue ArgumentError
            nil
          end

          # Compares the numbers in two texts as numbers.
          def order(one, other)
            one, other = [one, other].map { |each| each.downcase.scan(/\d+|\D+/) }
            one.zip(other) do |part, against|
              return 1 if against.nil?

              order = [part, against].all?(/\A\d/) ? part.to_i <=> against.to_i : part <=> against
              return order unless order.zero?
            end
            one.length <=> other.length
          end
        end
      end
      private_constant :Values
    end
  end
end
