# frozen_string_literal: true

module Simpkv
  class Estate
    # Replaces private keys in texts, such as `-----BEGIN RSA PRIVATE KEY-----` with the lines up to its end.
    #
    # The time is linear in the length of the text.
    module KeyBlocks
      # The first line of a private key, or the last one. A diff may have the last one only.
      MARK = /(?<!-)----++ ?(BEGIN|END)[ \w+%]{0,60}(?:PRIVATE|Static)[ \w+%]{0,60}----++/.freeze
      # How many more keys are open after a mark.
      CHANGES = { 'BEGIN' => 1, 'END' => -1, nil => 0 }.freeze
      private_constant :MARK, :CHANGES

      # @param text [String]
      # @param replacement [String, nil]
      # @return [Array(String, Boolean)] a copy without private keys, and whether the text ends inside one
      def self.replace(text, replacement)
        depth = 0
        shown = text.split(MARK, -1).each_slice(2).map do |part, mark|
          outside = depth.zero?
          depth = [depth + CHANGES.fetch(mark), 0].max
          [*(part unless mark == 'END'), *(replacement if mark)] if outside
        end
        [shown.join, depth.positive?]
      end
    end
    private_constant :KeyBlocks
  end
end
