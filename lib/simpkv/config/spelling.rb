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

      # The number of letters to add, remove or replace in one word to get the other.
      def distance(word, other)
        word.each_char.inject((0..other.length).to_a) do |above, letter|
          other.each_char.with_index.inject([above.first + 1]) do |row, (wanted, column)|
            replaced = above[column] + (letter == wanted ? 0 : 1)
            row << [replaced, above[column + 1] + 1, row.last + 1].min
          end
        end.last
      end
    end
  end
end
