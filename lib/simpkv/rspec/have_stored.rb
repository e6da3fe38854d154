# frozen_string_literal: true

require 'rspec/support'
require 'rspec/support/fuzzy_matcher'

module Simpkv
  module Kit
    # The matcher `have_stored`. Its messages name keys, and show values only where neither the expected one nor the
    # stored one holds a Sensitive.
    class HaveStored
      # The number of keys that a message names.
      NAMED = 20
      private_constant :NAMED

      # @param key [String]
      # @param view [BackendView]
      def initialize(key, view)
        @key = key
        @view = view
        @expected = {}
      end

      # @param value [Object] the value, or a matcher. A Sensitive matches only a Sensitive; any other value also a
      #   Sensitive that wraps it
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
      def matches?(actual)
        compile(actual)
        @entry = entry
        @differing = @entry ? @expected.reject { |part, expected| same?(expected, @entry[part]) }.keys : []
        !@entry.nil? && @differing.empty?
      end

      def supports_block_expectations?
        true
      end

      def description
        "have stored '#{@key}'#{given}"
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

      # rspec-puppet's subject is a lambda that compiles the catalog.
      def compile(actual)
        actual.call if actual.is_a?(Proc) && actual.arity.zero?
      end

      def entry
        return @view.entry(@key) unless folder?

        {} if @view.folder?(@key)
      end

      def same?(expected, actual)
        [actual, RichData::Converter.bare(actual)].any? do |value|
          ::RSpec::Support::FuzzyMatcher.values_match?(expected, value)
        end
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

        "its #{part} is #{@entry[part].inspect}, not #{expected.inspect}"
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
