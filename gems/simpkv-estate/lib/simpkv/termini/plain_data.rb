# frozen_string_literal: true

module Simpkv
  module Termini
    # Converts what Puppet and Facter hand over to plain data. Nothing is refused: text that is not UTF-8 gets
    # replacement characters, and another object becomes its text. The text of a Sensitive does not show its value.
    module PlainData
      FINITE = ->(value) { value.is_a?(Float) && value.finite? }
      private_constant :FINITE

      class << self
        # @param value [Object]
        # @return [String, Integer, Float, true, false, nil, Array, Hash] with Strings as the keys of Hashes
        def of(value)
          case value
          when Integer, true, false, nil, FINITE then value
          when Hash then value.each_with_object({}) { |(name, member), plain| plain[text(name)] = of(member) }
          when Array then value.map { |member| of(member) }
          else text(value)
          end
        end

        private

        def text(value)
          string = value.to_s
          string = string.dup.force_encoding(Encoding::UTF_8) if string.encoding == Encoding::BINARY
          string.encode(Encoding::UTF_8, invalid: :replace, undef: :replace).scrub
        rescue EncodingError # An encoding that Ruby cannot convert.
          string.dup.force_encoding(Encoding::UTF_8).scrub
        end
      end
    end
  end
end
