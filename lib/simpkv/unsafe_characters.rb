# frozen_string_literal: true

module Simpkv
  # Characters that a terminal takes for commands, that change the direction or the lines of a text, or that nobody
  # sees: control and format characters, spaces, fillers, selectors of variations, and tags. Logs and the command show
  # them escaped.
  module UnsafeCharacters
    # All but the line feed and the other characters of C0, which JSON escapes.
    PATTERN = /[\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f]|
               [\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{13430}-\u{1345f}]|
               [\u{1bca0}-\u{1bca3}\u{1d159}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/x.freeze
    ALL = /(?!\n)[[:cntrl:]]|#{PATTERN}/.freeze
    private_constant :PATTERN, :ALL

    class << self
      # @param json [String] JSON, in which such characters may stand as they are
      # @return [String] equal JSON, in which they are escaped: beyond U+FFFF as two units of UTF-16
      def escaped_in_json(json)
        json.gsub(PATTERN) do |character|
          character.encode(Encoding::UTF_16BE).unpack('n*').map { |unit| format('\\u%04x', unit) }.join
        end
      end

      # @param text [String] of any bytes
      # @return [String] the same for people, in UTF-8: a byte or a character up to U+00FF as `\x1B`, others as
      #   `\u{200B}`; line feeds stay
      def escaped(text)
        utf8 = text.dup.force_encoding(Encoding::UTF_8).scrub do |bytes|
          bytes.unpack('C*').map { |byte| format('\\x%02X', byte) }.join
        end
        utf8.gsub(ALL) do |character|
          format(character.ord > 0xff ? '\\u{%X}' : '\\x%02X', character.ord)
        end
      end
    end
  end
end
