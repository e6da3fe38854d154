# frozen_string_literal: true

require 'simpkv/cli/failure'

module Simpkv
  module Cli
    # A condition on a node, such as `status=failed`, `name~^web`, `failures>0` or `os.name!=Debian`.
    class NodeFilter
      SYNTAX = /\A([^=!~<>]+)(=|!=|~|!~|<|>)(.*)\z/m.freeze
      NUMBER = /\A-?\d+(\.\d+)?\z/.freeze
      private_constant :SYNTAX, :NUMBER

      # @param text [String]
      # @param members [Array<String>] the names of a node's members
      # @param facts [Array<String>] the names of the facts in the inventory
      # @raise [Failure] the text is no condition, or names neither a member nor a fact of the inventory
      def initialize(text, members, facts)
        @name, @operator, @value = text.match(SYNTAX)&.captures
        refuse("is no filter: write a name, one of = != ~ !~ < >, and a value, as in 'status=failed'") unless @name

        @fact = fact(facts) || unknown(members + facts) unless members.include?(@name)
        @pattern = Regexp.new(@value) if @operator.end_with?('~')
      rescue RegexpError => e
        refuse("has a wrong regular expression: #{e.message}")
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
        raise Failure.new("the filter #{why}", Failure::USAGE)
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
        ->(values) { values[indexed].is_a?(Hash) ? Estate::Facts.dig(values[indexed], rest) : nil }
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
