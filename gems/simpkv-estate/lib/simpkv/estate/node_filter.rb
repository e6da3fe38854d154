# frozen_string_literal: true

require 'time'
require 'timeout'
require 'simpkv/estate/secret_names'
require 'simpkv/unsafe_characters'

module Simpkv
  class Estate
    # A condition on a node, such as `status=failed`, `name~^web`, `failures>0` or `os.name!=Debian`.
    class NodeFilter
      SYNTAX = /\A([^=!~<>]+)(=|!=|~|!~|<|>)(.*)\z/m.freeze
      NUMBER = /\A-?\d+(\.\d+)?\z/.freeze
      COUNT = /\A(0|[1-9]\d*)?\z/.freeze
      # What a part of a time lacks, to be a whole one.
      EARLIEST = '0000-01-01T00:00:00'

      # By column: the values that have an order there, and a description.
      ORDERED = { 'last_seen' => [/\A\d{4}(-\d\d(-\d\d(T\d\d(:\d\d(:\d\dZ?)?)?)?)?)?\z/,
                                  'a time in UTC such as 2026-11-20 or 2026-11-20T10:00:00Z'],
                  'changes' => [NUMBER, 'a number'], 'failures' => [NUMBER, 'a number'] }.freeze

      # By column: the values that the whole text can be, and a description.
      WHOLE = { 'last_seen' => [/\A(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)?\z/,
                                'a whole time in UTC such as 2026-11-20T10:00:00Z'],
                'changes' => [COUNT, 'a whole number'], 'failures' => [COUNT, 'a whole number'] }.freeze

      # By column, its values, if they are few. A node without a report has an empty one.
      VALUES = { 'status' => ['failed', 'changed', 'unchanged', ''], 'noop' => ['true', 'false', ''],
                 'expired' => %w[true false] }.freeze
      private_constant :SYNTAX, :NUMBER, :COUNT, :EARLIEST, :ORDERED, :WHOLE, :VALUES

      # The time for the filters of a list. A regular expression can need more than anybody waits for.
      SECONDS = 5

      # @yieldreturn [Object] what filters give
      # @return [Object] it
      # @raise [InvalidError] they need too much time
      def self.limited(&block)
        Timeout.timeout(SECONDS, InvalidError, "the filters need more than #{SECONDS} seconds: use fewer of them, " \
                                               'and simpler regular expressions', &block)
      end

      # @param text [String]
      # @param members [Array<String>] the names of a node's members
      # @param facts [Array<String>] the names of the facts in the inventory
      # @param case_sensitive [Boolean] whether names of nodes can have capital letters
      # @param secret_names [SecretNames]
      # @raise [InvalidError] the text is no condition, names neither a member nor a fact of the inventory, names a
      #   secret, or has a value that the member never has
      def initialize(text, members, facts, case_sensitive, secret_names)
        @text = text
        @name, @operator, @value = text.match(SYNTAX)&.captures
        refuse("is none: write a name, one of = != ~ !~ < >, and a value, as in 'status=failed'") unless @name

        @fact = indexed_fact(members, facts, secret_names) unless members.include?(@name)
        check_value
        check_name(@name == 'environment' || case_sensitive) if %w[name environment].include?(@name)
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

      # Another value would match no node, or all.
      def check_value
        @pattern = pattern if @operator.end_with?('~')
        return check_choice(VALUES[@name]) if VALUES.key?(@name)
        return if @pattern

        form, needed = (@operator.end_with?('=') ? WHOLE : ORDERED)[@name]
        refuse("needs #{needed} after #{@operator}") unless form.nil? || fits?(form)
      end

      # @return [Boolean] whether the value has a form, and a time, or its beginning, is one of the calendar
      def fits?(form)
        return false unless @value.match?(form)
        return true if @name != 'last_seen' || @value.empty?

        given = @value.delete_suffix('Z')
        whole = "#{given}#{EARLIEST[given.length..]}Z"
        Time.iso8601(whole).iso8601 == whole
      rescue ArgumentError
        false
      end

      # A name is a part of a key. A node without a report can lack an environment.
      def check_name(case_sensitive)
        return if !@operator.end_with?('=') || (@value.empty? && @name == 'environment')

        why = @value.include?('/') ? "it has a '/'" : wrong_key(case_sensitive)
        refuse("names no #{@name} that a node can have: #{why}") if why
      end

      # @return [String, nil]
      def wrong_key(case_sensitive)
        Native.key_check(@value, case_sensitive)
        nil
      rescue InvalidError, TooLargeError => e
        e.message
      end

      def pattern
        Regexp.new(@value)
      rescue RegexpError => e
        refuse("has a wrong regular expression: #{e.message[%r{\A.*?(?=: /|\z)}m]}")
      end

      # @param values [Array<String>]
      def check_choice(values)
        refuse("needs = != ~ or !~ after '#{@name}'") if %w[< >].include?(@operator)
        return if @pattern ? values.grep(@pattern).any? : values.include?(@value)

        nothing = ', or nothing for a node without a report' if values.include?('')
        refuse("names no value of '#{@name}': expected #{values.reject(&:empty?).join(', ')}#{nothing}")
      end

      def unknown(names)
        likely = Spelling.nearest(@name, names)
        refuse("names neither a column nor a fact of the option 'indexed_facts'" \
               "#{likely ? ": did you mean '#{likely}'?" : ", which are #{names.join(', ')}"}")
      end

      # @return [#call] finds the fact among those of the inventory, which may be a part of one of them
      def indexed_fact(members, facts, secret_names)
        indexed = facts.find { |name| @name == name || @name.start_with?("#{name}.") }
        return unknown(members + facts) unless indexed

        refuse('compares a secret, as its name says') if secret_names.include?(@name)
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
