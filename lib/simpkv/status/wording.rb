# frozen_string_literal: true

require 'simpkv/counted'

module Simpkv
  module Status
    # Parts of the sentences of {Alerts}.
    module Wording
      # The most names in one sentence.
      NAMES = 10
      private_constant :NAMES

      private

      # @param number [Integer]
      # @param noun [String] in the singular
      # @return [String] see {Counted.of}
      def count(number, noun)
        Counted.of(number, noun)
      end

      # @param total [Integer]
      # @param names [Array<String>] of the first ones; none if the caller may not see them
      # @return [String] the total, and some names
      def some(total, names)
        return total.to_s if names.empty?

        named = names.first(NAMES)
        more = total - named.length
        "#{total} (#{[*named, *("#{more} more" if more.positive?)].join(', ')})"
      end
    end
  end
end
