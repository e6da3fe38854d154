# frozen_string_literal: true

module Simpkv
  # Numbers of things, in messages.
  module Counted
    # @param number [Integer]
    # @param noun [String] in the singular
    # @return [String] `1 key`, `2 keys`
    def self.of(number, noun)
      "#{number} #{noun}#{'s' unless number == 1}"
    end
  end
end
