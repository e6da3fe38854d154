# frozen_string_literal: true

module Simpkv
  class Estate
    # Tells whether a value in a text goes on in the next line, by what usual formats say: quotes, brackets, blocks of
    # YAML, documents in shells and manifests, tags, the end of the line.
    class SecretValue
      QUOTES = %w[" ' `].freeze
      # Apostrophes, and the quotes of old messages, such as `a'.
      NO_QUOTES = /(?<=[[:alnum:]])'(?=[[:alnum:]])|`[^`'\n]{0,200}'/.freeze
      # What a value is in its first line, or ends with there, if it goes on in the next one.
      GOES_ON = /\A\z                                    # nothing
                |\A[!&]\S*+\z|\A\#                       # a tag or a comment of YAML
                |(?:\A>|\s>|\|)[-+\d]*+(?:\s+\#.*)?\z    # a block of YAML
                |\A\d?[-+]\d?\z|[\\+^]\z                                # the same line in other words
                |<<[-~]?\s?[\\"'`]?\w|@\(                # a document
                /x.freeze
      private_constant :QUOTES, :NO_QUOTES, :GOES_ON

      def initialize
        @counts = QUOTES.to_h { |quote| [quote, 0] }
      end

      # Reads a line of the text, each one in turn.
      def read(line)
        line = line.gsub(NO_QUOTES, '') if line.include?("'")
        QUOTES.each { |quote| @counts[quote] += line.count(quote) }
      end

      # @param named [MatchData] the name, in the line that has been read last
      # @return [Boolean] whether the value goes on
      def goes_on?(named)
        value = named.post_match.strip
        value.match?(GOES_ON) || @counts.each_value.any?(&:odd?) || quoted?(value) || bracketed?(value) ||
          (tagged?(named.pre_match) && !value.match?(%r{</|/>}))
      end

      private

      def quoted?(value)
        plain = value.gsub(/\\./m, '')
        QUOTES.any? { |quote| value.count(quote).odd? || plain.count(quote).odd? }
      end

      def bracketed?(value)
        value.scan(/[\[\](){}]/).reduce(0) do |depth, bracket|
          '[({'.include?(bracket) ? depth + 1 : [depth - 1, 0].max
        end.positive?
      end

      # @return [Boolean] whether the name is in a tag of XML
      def tagged?(before)
        start = before.rindex('<')
        !start.nil? && before.match?(/\G<(?:[[:alpha:]][^<>]*+)?\z/, start)
      end
    end
    private_constant :SecretValue
  end
end
