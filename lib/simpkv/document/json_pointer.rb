# frozen_string_literal: true

module Simpkv
  # JSON pointers (RFC 6901), such as `/parameters/ports/0`, on plain data. No method changes its arguments.
  module JsonPointer
    SYNTAX = %r{\A(?:/(?:[^~/]|~[01])*)+\z}m.freeze
    INDEX = /\A(?:0|[1-9]\d{0,8})\z/.freeze
    private_constant :SYNTAX, :INDEX

    class << self
      # @param pointer [Object]
      # @return [Boolean] whether it is a pointer to a part of a document, not to the whole
      def valid?(pointer)
        pointer.is_a?(String) && pointer.valid_encoding? && pointer.match?(SYNTAX)
      end

      # @param pointer [String]
      # @return [Array<String>] its parts, without escapes
      def parts(pointer)
        pointer.split('/', -1).drop(1).map { |part| part.gsub('~1', '/').gsub('~0', '~') }
      end

      # @param parts [Array<String>]
      # @return [String] the pointer
      def of(parts)
        parts.map { |part| "/#{part.gsub('~', '~0').gsub('/', '~1')}" }.join
      end

      # @param data [Object]
      # @param pointer [String]
      # @yieldparam value [Object] the part of the data, if there is one
      # @yieldreturn [Object] its replacement
      # @return [Object] a copy of the data with the replacement
      def replace(data, pointer, &block)
        replace_at(data, parts(pointer), &block)
      end

      # @param data [Object]
      # @param name [String]
      # @return [Boolean] whether a part of the data has that name: a member of a Hash, or an index of an Array
      def member?(data, name)
        case data
        when Hash then data.key?(name)
        when Array then name.match?(INDEX) && name.to_i < data.length
        else false
        end
      end

      # @param data [Hash, Array]
      # @param name [String] see {member?}
      # @return [Object] that part
      def member(data, name)
        data.is_a?(Array) ? data[name.to_i] : data[name]
      end

      private

      def replace_at(data, parts, &block)
        return yield(data) if parts.empty?

        name, *rest = parts
        return data unless member?(data, name)

        place = data.is_a?(Array) ? name.to_i : name
        data.dup.tap { |copy| copy[place] = replace_at(data[place], rest, &block) }
      end
    end
  end
end
