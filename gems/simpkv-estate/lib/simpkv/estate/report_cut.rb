# frozen_string_literal: true

module Simpkv
  class Estate
    # The bounds of a report, of which agents choose all texts, values and numbers.
    class ReportCut
      # The number of characters of a text.
      TEXT_MAX = 10_000
      # The end of a text that was cut before: an archive has it.
      CUT = /\A\.{3} \(\d{1,9} more characters?\)\z/.freeze
      private_constant :TEXT_MAX, :CUT

      # @param members [Hash{String => Object}]
      # @return [Hash{String => Object}] those that are not nil; a long text ends with the number of characters that it
      #   lacks
      def self.texts(members)
        members.compact.transform_values { |value| value.is_a?(String) ? text(value) : value }
      end

      def self.text(value)
        more = value.length - TEXT_MAX
        return value unless more.positive? && !value[TEXT_MAX..].match?(CUT)

        "#{value[0, TEXT_MAX]}... (#{Counted.of(more, 'more character')})"
      end
      private_class_method :text

      # @param bytes [Integer] of the JSON of what is kept
      def initialize(bytes)
        @left = bytes
      end

      # @param list [Array]
      # @param limit [Integer] their number
      # @yieldparam item [Object]
      # @yieldreturn [Object] plain data, whose JSON counts
      # @return [Array] the first ones, without those for which there are too few bytes
      def first(list, limit = list.length)
        list.first(limit).select { |item| fit?(yield(item)) }
      end

      # @param value [Object] plain data
      # @return [Boolean] whether there are bytes for it, which are used then. There are none for what is no JSON
      def fit?(value)
        bytes = Native.generate(value).bytesize + 1
        return false if bytes > @left

        @left -= bytes
        true
      rescue Error
        false
      end
    end
    private_constant :ReportCut
  end
end
