# frozen_string_literal: true

require 'rspec/expectations'

module Simpkv
  module Kit
    # The matcher `have_stored`. Its messages name keys, and show values only where neither the expected one nor the
    # stored one holds a Sensitive.
    class HaveStored
      include ::RSpec::Matchers::Composable

      # The number of keys that a message names.
      NAMED = 20
      private_constant :NAMED

      # @param key [String]
      # @param view [BackendView]
      # @raise [ArgumentError] the key is not a String
      def initialize(key, view)
        raise ArgumentError, "keys are Strings: have_stored('app1/color')" unless key.is_a?(String)

        @key = key
        @view = view
        @expected = {}
      end

      # @param value [Object] the value, or a matcher. A Sensitive matches only a Sensitive; any other value also a
      #   Sensitive that wraps it. If the stored value holds a Sensitive, a matcher is tried with the value as it is
      #   stored, and with the value without Sensitive
      # @return [self]
      def with_value(value)
        expect_part(:value, value)
      end

      # @param metadata [Hash, Object] all metadata, or a matcher, such as `include('owner' => 'ops')`
      # @return [self]
      def with_metadata(metadata)
        expect_part(:metadata, metadata)
      end

      # @return [Boolean]
      # @raise [ArgumentError] nobody has named the backend, or a given matcher fits no form of what is stored
      def matches?(actual)
        compile(actual)
        @view.check_backend
        @entry = entry
        @differing = @entry ? @expected.keys.reject { |part| same?(part) } : []
        !@entry.nil? && @differing.empty?
      end

      def supports_block_expectations?
        true
      end

      def description
        "have stored '#{@key}'#{given}"
      end

      def inspect
        "#<#{self.class} #{description}>"
      end

      def failure_message
        return "expected '#{@key}' in #{@view}, but #{missing}" unless @entry

        "expected '#{@key}' in #{@view} to match, but #{@differing.map { |part| difference(part) }.join(', and ')}"
      end

      def failure_message_when_negated
        "expected no '#{@key}' in #{@view}#{given}, but it is stored"
      end

      private

      def expect_part(part, expected)
        raise ArgumentError, "the folder '#{@key}' has no #{part}" if folder?

        @expected[part] = expected
        self
      end

      def folder?
        @key.end_with?('/')
      end

      def given
        " with #{@expected.keys.map { |part| "the given #{part}" }.join(' and ')}" if @expected.any?
      end

      # rspec-puppet's subject is a lambda that compiles the catalog. RSpec gives a Proc of any arguments to the second
      # of two composed matchers.
      def compile(actual)
        actual.call if actual.is_a?(Proc) && actual.arity.between?(-1, 0)
      end

      def entry
        return @view.entry(@key) unless folder?

        {} if @view.folder?(@key)
      end

      def same?(part)
        forms = [@entry[part], RichData::Converter.bare(@entry[part])].uniq
        return values_match?(@expected[part], forms.first) if forms.one?

        answers = forms.map { |form| answer(@expected[part], form) }
        errors = answers.grep(StandardError)
        refuse(part, errors) if errors.length == forms.length
        (answers - errors).any?
      end

      # @return [Object] true or what counts as true, false or nil, or the error of a block that expects the other form
      def answer(expected, form)
        values_match?(expected, form)
      rescue ::RSpec::Expectations::ExpectationNotMetError
        false
      rescue StandardError => e
        e
      end

      # The messages of the errors could show what is stored. They have been rescued, so that none of them is the cause.
      def refuse(part, errors)
        raise ArgumentError, "what is given for the #{part} of '#{@key}' raises #{errors.first.class} for the " \
                             "#{part} as it is stored, and #{errors.last.class} for the #{part} without Sensitive",
              errors.first.backtrace
      end

      def missing
        return 'that is a folder' if !folder? && @view.folder?(@key)

        names = @view.stored
        return 'the store is empty' if names.empty?

        more = names.length > NAMED ? " and #{names.length - NAMED} more" : ''
        "the store has #{names.first(NAMED).join(', ')}#{more}"
      end

      def difference(part)
        expected = @expected[part]
        return "its #{part} differs, and is not shown" unless showable?(expected) && showable?(@entry[part])

        "its #{part} is #{shortened(@entry[part])}, not #{shortened(expected)}"
      end

      def shortened(value)
        ::RSpec::Support::ObjectFormatter.format(value)
      end

      # A matcher could hold a Sensitive. If one side is secret, so is the other.
      def showable?(value)
        case value
        when Hash then value.all? { |pair| pair.all? { |member| showable?(member) } }
        when Array then value.all? { |member| showable?(member) }
        when String, Numeric, true, false, nil, Regexp then true
        else false
        end
      end
    end
  end
end
