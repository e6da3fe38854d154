# frozen_string_literal: true

module Simpkv
  class Adapter
    # The text of an exception, without values.
    module ExceptionText
      # Ruby's own exceptions quote the wrong value, so this shows only their class and place.
      #
      # @param exception [Exception]
      # @return [String]
      def self.of(exception)
        where = own_lines(exception.backtrace)
        Puppet.debug { "simpkv: #{exception.class}\n#{where.join("\n")}" }
        quoting?(exception) ? [exception.class, *where.first].join(' at ') : exception.message
      end

      # @param backtrace [Array<String>, nil]
      # @return [Array<String>] the lines that belong to simpkv and its plugins
      def self.own_lines(backtrace)
        (backtrace || []).grep(%r{/(puppet_x|functions)/simpkv/|/lib/simpkv})
      end

      def self.quoting?(exception)
        [ArgumentError, EncodingError, FrozenError, IndexError, JSON::JSONError, NameError, RangeError, RegexpError,
         TypeError, UncaughtThrowError].any? { |type| exception.is_a?(type) } ||
          exception.class.name.to_s.start_with?('NoMatchingPattern')
      end
      private_class_method :quoting?
    end
  end
end
