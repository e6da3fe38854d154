# frozen_string_literal: true

module Simpkv
  class Estate
    # Replaces secrets in texts, such as lines of a log, by the names beside them: `password = ...`, `"token": ...`,
    # `--password ...`, `<password>...`. What follows such a name is replaced up to the end of the line, or of the text
    # if the value may go on in the next line. It is better to replace too much than too little: nobody can tell where a
    # value ends in a text of any format. The password in a URL needs no name: `postgres://user:...@host`.
    #
    # The time is linear in the length of the text: agents choose it.
    class SecretText
      # A name of one or two words.
      NAME = /[[:word:].-]++(?: [[:word:].-]++)?/.freeze
      # What comes between a name and its value.
      BETWEEN = /[\\"'\])}]*+\s*+[-+?.|!~]?(?:=>?|>|:(?!:[[:alpha:]]))/.freeze
      # A name with its value after it: an assignment, the option of a command, or the first word in a line of a
      # configuration in a diff. The search for the next one goes on inside the value.
      NAMED = /(?<![[:word:].-])#{NAME}#{BETWEEN}
              |(?:^[ +-][ \t]*+|(?<![[:word:].-])(?=-))[[:word:].-]++[ \t]++(?![-+?.|!~]?[=:>])/x.freeze
      # What a value is in its first line, or ends with there, if it goes on in the next one: nothing, or a block of
      # several lines.
      GOES_ON = /\A\z|\A>[-+\d]*\z|\|[-+\d]*\z|\\\z|<<[-~]?["']?\w+["']?\z/.freeze
      # The end of a line, unless the next one has the value of a name in this one.
      BREAK = /(?<=\n)(?![ \t]*[=:])/.freeze
      # The user in a URL, before the password. A port with a query is none.
      USER = %r{(?<=://)[^\s/?#@:"<>]*+:(?!\d{1,5}[?#])}.freeze
      URL = %r{(#{USER})[^\s/"<>]+(?=@)}.freeze
      private_constant :BREAK, :USER, :URL, :NAME, :BETWEEN, :NAMED, :GOES_ON

      # @param names [SecretNames]
      # @param replacement [String, nil]
      def initialize(names, replacement)
        @names = names
        @replacement = replacement
      end

      # @param text [String]
      # @return [String] a copy without secrets
      def of(text)
        shown = []
        text = text.gsub(URL) { "#{Regexp.last_match(1)}#{@replacement}" } if text.include?('://')
        text.split(BREAK).each do |line|
          named = named(line)
          shown << (named ? replaced(line, named) : line)
          break if named && goes_on?(named.post_match.strip)
        end
        shown.join
      end

      private

      # @return [MatchData, nil] the first name of a secret
      def named(line)
        line.scan(NAMED) do
          match = Regexp.last_match
          return match if @names.include?(match[0])
        end
        nil
      end

      def replaced(line, named)
        start = named.pre_match + named[0] + named.post_match[/\A[ \t]*/]
        "#{start}#{@replacement}#{line[/\r?\n\z/]}"
      end

      def goes_on?(value)
        value.match?(GOES_ON) || value.count('[{(') > value.count(']})') ||
          %w[" '].any? { |quote| value.gsub(/\\./m, '').count(quote).odd? }
      end
    end
    private_constant :SecretText
  end
end
