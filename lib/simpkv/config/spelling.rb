# frozen_string_literal: true

module Simpkv
  # Suggests a name for a misspelt one. Ruby's did_you_mean does so too, but JRuby, on which puppetserver compiles,
  # comes without it.
  module Spelling
    # The maximum length of a word: the comparison of a longer one takes long.
    LONGEST = 100
    private_constant :LONGEST

    # @param word [Object] the misspelt name
    # @param names [Array<String>]
    # @return [String, nil] the most similar name, else the only name that contains it; nil if there is none
    def self.nearest(word, names)
      word = word.to_s.downcase.tr('-', '_')
      return if word.length > LONGEST

      similar(word, names) || longer(word, names)
    end

    class << self
      private

      def similar(word, names)
        distance, name = names.map { |candidate| [distance(word, candidate), candidate] }.min
        name if distance && distance <= [1, name.length / 3].max
      end

      def longer(word, names)
        matches = names.select { |candidate| word.length > 3 && candidate.include?(word) }
        matches.first if matches.one?
      end

      # The number of letters to add, remove, replace, or swap with the next one, in one word to get the other.
      def distance(word, other)
        rows = [nil, (0..other.length).to_a]
        word.each_char.with_index { |letter, index| rows = [rows.last, row(rows, word, index, letter, other)] }
        rows.last.last
      end

      def row((before, above), word, index, letter, other)
        other.each_char.with_index.inject([index + 1]) do |row, (wanted, column)|
          costs = [above[column] + (letter == wanted ? 0 : 1), above[column + 1] + 1, row.last + 1]
          costs << (before[column - 1] + 1) if swapped?(word, index, other, column)
          row << costs.min
        end
      end

      def swapped?(word, index, other, column)
        index.positive? && column.positive? && word[index - 1, 2] == other[column - 1, 2].reverse
      end
    end
  end
end
