# frozen_string_literal: true

module Simpkv
  module Query
    # Regular expressions of PostgreSQL, as far as they differ from Ruby's: ^ and $ are the ends of the text, a dot
    # stands for a line break as well, and some escapes are other ones.
    module Pattern
      # A pattern may have so many characters.
      LENGTH = 4096

      # Escapes of PostgreSQL in Ruby.
      ESCAPES = { 'm' => '\b(?=\w)', 'M' => '\b(?<=\w)', 'y' => '\b', 'Y' => '\B', 'Z' => '\z' }.freeze

      # Escaped characters, bracket expressions, and the ends.
      TOKEN = /\\.|\[\^?\]?(?:\[:\w+:\]|\\.|[^\]\\])*\]|\^|\$/m.freeze

      # A pattern that is the same text of ASCII in any case, with escapes before characters that mean something. A text
      # of SQLite ends at NUL.
      LITERAL = %r{\A\(\?i\)((?:[[:alnum:] /:;,@%&=_~"'<>!-]|\\[^[:alnum:]\0])+)\z}.freeze
      private_constant :LITERAL

      # @param text [String] of PostgreSQL
      # @return [String, nil] the text that it looks for in any case, in lower case; nil for any other pattern
      def self.literal(text)
        found = text[LITERAL, 1] if text.ascii_only?
        found&.gsub(/\\(.)/m, '\1')&.downcase
      end

      # @param text [Object]
      # @return [String] the same, if it is a regular expression
      # @raise [InvalidError]
      def self.check(text)
        raise InvalidError, 'A regular expression must be a string' unless text.is_a?(String)
        raise InvalidError, "A regular expression has at most #{LENGTH} characters" if text.length > LENGTH

        compile(text)
        text
      end

      # @param text [String] of PostgreSQL
      # @return [Regexp]
      # @raise [InvalidError]
      def self.compile(text)
        Regexp.new(text.gsub(TOKEN) { |token| translate(token) }, Regexp::MULTILINE)
      rescue RegexpError => e
        # Ruby repeats the translated text.
        raise InvalidError, "invalid regular expression: #{e.message[%r{\A.*?(?=: /|\z)}m]}"
      end

      def self.translate(token)
        case token
        when '^' then '\A'
        when '$' then '\z'
        when /\A\\/ then ESCAPES.fetch(token[1], token)
        else token
        end
      end
      private_class_method :translate
    end
  end
end
