# frozen_string_literal: true

module Simpkv
  module Query
    module ToChar
      # The masks of numbers: digits (9, 0), the point (. or D), groups (, or G), signs (S, MI, PL, SG, PR), FM, TH, and
      # text in double quotes.
      module Numbers
        TOKEN = /"(?:[^"\\]|\\.)*"?|FM|MI|PL|SG|PR|TH|[90.,DGS]|./mi.freeze

        # Masks of PostgreSQL that are not here.
        OTHERS = /EEEE|RN|V/i.freeze

        # @param value [Numeric]
        # @param mask [String]
        # @return [String]
        def self.format(value, mask)
          Number.new(value, mask.scan(TOKEN)).text
        end

        # @param mask [String]
        # @return [String] the same
        # @raise [InvalidError] it is none that simpkv knows
        def self.check(mask)
          plain = mask.scan(TOKEN).reject { |token| token.start_with?('"') }
          raise InvalidError, "Format '#{mask}' is not supported" if plain.join.match?(OTHERS)

          mask
        end

        # @param number [Integer]
        # @return [String] its suffix, such as `st`
        def self.ordinal(number)
          return 'th' if (11..13).cover?(number.abs % 100)

          { 1 => 'st', 2 => 'nd', 3 => 'rd' }.fetch(number.abs % 10, 'th')
        end

        # A number in a mask.
        class Number
          # @param value [Numeric]
          # @param tokens [Array<String>]
          def initialize(value, tokens)
            @bare = tokens.any? { |token| token.casecmp?('FM') }
            @tokens = tokens.reject { |token| token.casecmp?('FM') }
            decimals = digits_of(fraction).length
            scaled = (Rational(value.to_s) * (10**decimals)).round(half: :up)
            @negative = scaled.negative?
            @digits = scaled.abs.to_s.rjust(decimals + 1, '0')
            @decimals = decimals
          end

          # @return [String]
          def text
            return @tokens.map { |token| literal(token, true) }.join if digits_of(@tokens).empty?

            whole = whole_part
            written = signed(whole, fraction_part)
            @bare ? written.delete(' ') : written
          end

          private

          def point
            @tokens.index { |token| token.match?(/\A[.D]\z/i) } || @tokens.length
          end

          def whole_tokens
            @tokens.first(point)
          end

          def fraction
            @tokens.drop(point)
          end

          def digits_of(tokens)
            tokens.grep(/\A[90]\z/)
          end

          # @return [Array<String>] a text for each token before the point
          def whole_part
            places = digits_of(whole_tokens).length
            digits = @digits[0, @digits.length - @decimals].sub(/\A0+/, '')
            return overflow if digits.length > places

            digits = '0' if digits.empty? && @decimals.zero?
            fill(digits.rjust(places).chars)
          end

          def overflow
            whole_tokens.map { |token| digit?(token) ? '#' : literal(token, true) }
          end

          # Blanks before the first digit, or before the first 0 of the mask.
          def fill(digits)
            started = false
            whole_tokens.map do |token|
              next literal(token, started) unless digit?(token)

              digit = digits.shift
              started ||= token == '0' || digit != ' '
              started ? digit.tr(' ', '0') : ' '
            end
          end

          # @return [Array<String>] a text for each token after the point, and for the point
          def fraction_part
            digits = @digits[-@decimals, @decimals].to_s.chars
            texts = fraction.map { |token| digit?(token) ? digits.shift : literal(token, true) }
            return texts unless @bare

            last = fraction.rindex('0') || 0
            last += 1 while texts.drop(last + 1).any? { |text| text.match?(/[1-9]/) }
            texts.first(last + 1)
          end

          def digit?(token)
            %w[9 0].include?(token)
          end

          def literal(token, started)
            case token.upcase
            when ',', 'G' then started ? ',' : ' '
            when '.', 'D' then '.'
            when 'S', 'MI', 'PL', 'SG', 'PR' then sign(token.upcase)
            when 'TH' then suffix(token)
            when 'L' then ' '
            else token.delete_prefix('"').delete_suffix('"')
            end
          end

          def suffix(token)
            return '' if @negative

            ordinal = Numbers.ordinal(@digits[0, @digits.length - @decimals].to_i)
            token == token.downcase ? ordinal : ordinal.upcase
          end

          def sign(token)
            case token
            when 'S', 'SG' then @negative ? '-' : '+'
            when 'MI' then @negative ? '-' : ' '
            when 'PL' then @negative ? ' ' : '+'
            else ''
            end
          end

          # Without a mask for it, the sign stands before the first digit.
          def signed(whole, fraction)
            signs = @tokens.map(&:upcase) & %w[S MI PL SG PR]
            text = [*whole, *fraction].join
            return anchored(text, @negative ? '-' : ' ') if signs.empty?
            return bracketed(text) if signs.include?('PR')

            signs.include?('S') && @tokens.first.casecmp?('S') ? anchored(text[1, text.length], text[0]) : text
          end

          def anchored(text, sign)
            blanks = text[/\A */]
            "#{blanks}#{sign}#{text.delete_prefix(blanks)}"
          end

          def bracketed(text)
            return " #{text} " unless @negative

            "#{anchored(text, '<')}>"
          end
        end
        private_constant :Number
      end
    end
  end
end
