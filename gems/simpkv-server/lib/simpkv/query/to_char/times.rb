# frozen_string_literal: true

require 'date'
require 'simpkv/query/to_char/numbers'

module Simpkv
  module Query
    module ToChar
      # The masks of times.
      module Times
        # Numbers that strftime has as well.
        NUMBERS = { 'HH24' => '%H', 'HH12' => '%I', 'HH' => '%I', 'MI' => '%M', 'SS' => '%S', 'MS' => '%L',
                    'US' => '%6N', 'YYYY' => '%Y', 'YY' => '%y', 'IYYY' => '%G', 'IY' => '%g', 'MM' => '%m',
                    'DDD' => '%j', 'DD' => '%d', 'ID' => '%u', 'IW' => '%V' }.freeze

        # Other numbers.
        COMPUTED = {
          'SSSSS' => ->(time) { seconds(time) }, 'SSSS' => ->(time) { seconds(time) },
          'YYY' => ->(time) { time.strftime('%Y')[-3, 3] }, 'Y' => ->(time) { time.strftime('%Y')[-1] },
          'IYY' => ->(time) { time.strftime('%G')[-3, 3] }, 'I' => ->(time) { time.strftime('%G')[-1] },
          'D' => ->(time) { (time.wday + 1).to_s }, 'W' => ->(time) { (((time.day - 1) / 7) + 1).to_s },
          'WW' => ->(time) { two((time.yday - 1) / 7) }, 'CC' => ->(time) { two((time.year - 1) / 100) },
          'IDDD' => ->(time) { (((time.to_date.cweek - 1) * 7) + time.to_date.cwday).to_s.rjust(3, '0') },
          'J' => ->(time) { time.to_date.jd.to_s }, 'Q' => ->(time) { (((time.month - 1) / 3) + 1).to_s }
        }.freeze

        # Names: their width, and how strftime has them.
        NAMES = { 'MONTH' => [9, '%B'], 'MON' => [0, '%b'], 'DAY' => [9, '%A'], 'DY' => [0, '%a'], 'TZ' => [0, 'UTC'],
                  'AM' => [0, '%p'], 'PM' => [0, '%p'], 'AD' => [0, 'AD'], 'BC' => [0, 'AD'], 'RM' => [4, nil],
                  'A.D.' => [0, 'A.D.'], 'B.C.' => [0, 'A.D.'], 'A.M.' => [0, nil], 'P.M.' => [0, nil] }.freeze

        # What is the same in any case.
        OTHERS = { 'TZH' => '+00', 'TZM' => '00', 'OF' => '+00', 'Y,YYY' => nil }.freeze

        ROMAN = %w[I II III IV V VI VII VIII IX X XI XII].freeze

        KEYWORDS = [NUMBERS, COMPUTED, NAMES, OTHERS].flat_map(&:keys).sort_by { |word| -word.length }.freeze

        # Text in double quotes, or a keyword with a prefix and a suffix, or any other character.
        TOKEN = /"((?:[^"\\]|\\.)*)"?|((?:FM|TM|FX)*)(#{Regexp.union(KEYWORDS).source})(TH)?|./mi.freeze

        # @param time [Time] in UTC
        # @param mask [String]
        # @return [String]
        def self.format(time, mask)
          mask.gsub(TOKEN) do |token|
            quoted, prefix, word, suffix = Regexp.last_match.captures
            next quoted ? quoted.gsub(/\\(.)/m, '\1') : token unless word

            text(time, word, prefix.match?(/[FT]M/i), suffix.to_s)
          end
        end

        def self.text(time, word, bare, suffix)
          key = word.upcase
          return "#{name(time, key, word).ljust(bare ? 0 : NAMES[key].first)}#{suffix}" if NAMES.key?(key)
          return "#{OTHERS[key] || time.year.to_s.sub(/(\d{3})\z/, ',\1')}#{suffix}" if OTHERS.key?(key)

          digits = NUMBERS.key?(key) ? time.strftime(NUMBERS[key]) : COMPUTED.fetch(key).call(time)
          number = Integer(digits, 10)
          "#{bare ? number : digits}#{ordinal(number, suffix)}"
        end
        private_class_method :text

        # A name has the case of its keyword: DAY, Day, day.
        def self.name(time, key, word)
          text = NAMES[key].last ? time.strftime(NAMES[key].last) : special(time, key)
          return text.downcase if word == word.downcase

          word[1] == word[1].upcase ? text.upcase : text
        end
        private_class_method :name

        def self.special(time, key)
          key == 'RM' ? ROMAN[time.month - 1] : time.strftime('%p').chars.join('.').concat('.')
        end
        private_class_method :special

        def self.ordinal(number, suffix)
          return '' if suffix.empty?

          suffix == suffix.downcase ? Numbers.ordinal(number) : Numbers.ordinal(number).upcase
        end
        private_class_method :ordinal

        def self.seconds(time)
          ((time.hour * 3600) + (time.min * 60) + time.sec).to_s
        end
        private_class_method :seconds

        # @return [String] the number after another one, with two digits
        def self.two(before)
          (before + 1).to_s.rjust(2, '0')
        end
        private_class_method :two
      end
    end
  end
end
