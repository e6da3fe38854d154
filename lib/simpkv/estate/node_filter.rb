# frozen_string_literal: true

require 'simpkv/unsafe_characters'

module Simpkv
  class Estate
    # A condition on a node, such as `status=failed`, `name~^web`, `failures>0` or `os.name!=Debian`.
    class NodeFilter
      SYNTAX = /\A([^=!~<>]+)(=|!=|~|!~|<|>)(.*)\z/m.freeze
      NUMBER = /\A-?\d+(\.\d+)?\z/.freeze

      # By column: the values that have an order there, and a description.
      ORDERED = { 'last_seen' => [/\A\d{4}(-\d\d(-\d\d(T[\d:]*Z?)?)?)?\z/,
                                  'a time in UTC such as 2026-11-20 or 2026-11-20T10:00:00Z'],
                  'changes' => [NUMBER, 'a number'], 'failures' => [NUMBER, 'a number'] }.freeze
      private_constant :SYNTAX, :NUMBER, :ORDERED

      # @param text [String]
      # @param members [Array<String>] the names of a node's members
      # @param facts [Array<String>] the names of the facts in the inventory
      # @raise [InvalidError] the text is no condition, or names neither a member nor a fact of the inventory
      def initialize(text, members, facts)
        @text = text
        @name, @operator, @value = text.match(SYNTAX)&.captures
        refuse("is none: write a name, one of = != ~ !~ < >, and a value, as in 'status=failed'") unless @name

        @fact = fact(facts) || unknown(members + facts) unless members.include?(@name)
        check_value
      end

      # @param node [Hash] of {NodeList}
      # @return [Boolean]
      def match?(node)
        value = @fact ? @fact.call(node['facts']) : node[@name]
        case @operator
        when '=' then value.to_s == @value
        when '!=' then value.to_s != @value
        when '~' then @pattern.match?(value.to_s)
        when '!~' then !@pattern.match?(value.to_s)
        else ordered?(value)
        end
      end

      private

      def refuse(why)
        raise InvalidError, "the filter '#{UnsafeCharacters.escaped(@text)}' #{why}"
      end

      # Another value would match no node.
      def check_value
        return @pattern = Regexp.new(@value) if @operator.end_with?('~')
        return if @operator.end_with?('=')

        pattern, needed = ORDERED[@name]
        refuse("needs #{needed} after #{@operator}") unless pattern.nil? || @value.match?(pattern)
      rescue RegexpError => e
        refuse("has a wrong regular expression: #{e.message[%r{\A.*?(?=: /|\z)}m]}")
      end

      def unknown(names)
        likely = Spelling.nearest(@name, names)
        refuse("names neither a column nor a fact of the option 'indexed_facts'" \
               "#{likely ? ": did you mean '#{likely}'?" : ", which are #{names.join(', ')}"}")
      end

      # @return [#call, nil] finds the fact among those of the inventory, which may be a part of one of them
      def fact(facts)
        indexed = facts.find { |name| @name == name || @name.start_with?("#{name}.") }
        return unless indexed
        return ->(values) { values[indexed] } if indexed == @name

        rest = @name.delete_prefix("#{indexed}.")
        ->(values) { values[indexed].is_a?(Hash) ? Facts.dig(values[indexed], rest) : nil }
      end

      # Numbers are compared as numbers, others as text, such as times.
      def ordered?(value)
        return false if value.nil?

        numbers = [value.to_s, @value].all? { |text| text.match?(NUMBER) }
        left, right = [value.to_s, @value].map { |text| numbers ? text.to_f : text }
        @operator == '<' ? left < right : left > right
      end
    end
  end
end
