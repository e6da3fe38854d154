# frozen_string_literal: true

module Simpkv
  # Finds the name that was probably meant by one that does not exist. Ruby's did_you_mean does so too, but JRuby, on
  # which puppetserver compiles, comes without it.
  module Spelling
    # A longer word would take long to compare, and is none of ours.
    LONGEST = 100
    private_constant :LONGEST

    # @param word [Object] what was written
    # @param names [Array<String>]
    # @return [String, nil] the name most like it, else the only one of which it is a part; nil when there is none
    def self.nearest(word, names)
      word = word.to_s.downcase.tr('-', '_')
      return if word.length > LONGEST

      similar(word, names) || longer(word, names)
    end

    class << self
      private

      def similar(word, names)
        distance, name = names.map { |candidate| [distance(word, candidate), candidate] }.min
        name if distance <= [1, name.length / 3].max
      end

      def longer(word, names)
        found = names.select { |candidate| word.length > 3 && candidate.include?(word) }
        found.first if found.one?
      end

      # How many letters must be added, left out or replaced to make one word the other.
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
