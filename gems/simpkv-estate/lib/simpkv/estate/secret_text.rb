# frozen_string_literal: true

require 'simpkv/estate/key_blocks'
require 'simpkv/estate/secret_value'
require 'simpkv/estate/url_passwords'

module Simpkv
  class Estate
    # Replaces secrets in texts, such as lines of a log, by the names beside them: `password = ...`, `"token": ...`,
    # `--password ...`, `<password>...`, `name: DB_PASSWORD, value: ...`. What follows such a name is replaced up to the
    # end of the line, with the lines below it that are indented more, or up to the end of the text if the value may go
    # on in the next line ({SecretValue}). It is better to replace too much than too little: nobody can tell where a
    # value ends in a text of any format. Passwords in URLs and private keys need no name.
    #
    # The time is linear in the length of the text: agents choose it.
    class SecretText
      WORD = /[[:word:].-]++/.freeze
      # A name of one or two words.
      NAME = /#{WORD}(?: #{WORD})?/.freeze
      # What a line of a diff begins with, and the indentation.
      INDENT = /[ \t+<>-]*+/.freeze
      QUOTES = /(?:[\\"'`\])}]|&(?:quot|apos|#\d{1,4});)*+/.freeze
      SEPARATOR = /(?:=>?|>|:(?!:[[:alpha:]])|%3[AaDd]|&gt;)/.freeze
      # What comes between a name and its value.
      BETWEEN = /#{QUOTES}\s*+(?:(?<=\n)#{INDENT})?[-+?.|!~]?#{SEPARATOR}/.freeze
      # What follows a name that is itself a value, as in `name: DB_PASSWORD, value: ...`.
      VALUE = %r{#{QUOTES}(?:</[[:word:]]{1,20}>)?[,;]?\s*+(?:(?<=\n)#{INDENT})?
                 [\\"'<]*+(?i:value|string)[\\"']*+[ \t]*+[=:>]}x.freeze
      # What comes between a name and a quoted value, as in `PASSWORD '...'` and `"password", "..."`.
      QUOTED = /(?:[\\"'`]*+,[ \t]*+|[ \t]++)(?=\\*+["'`])/.freeze
      # What comes before the first word of a line, of a quoted text, or of an option.
      FIRST = /^[ +<>-][ \t]*+|(?<=["'`])|\\[nr]#{INDENT}|(?<![[:word:].-])(?=-)/.freeze
      # What may be before a name: the end of a line in JSON, or a color.
      ESCAPE = /\\[nrt]?|\e\[[\d;]{0,20}m/.freeze
      SPACE = /[ \t]++(?![-+?.|!~]?[=:>])/.freeze
      # A name with its value after it. The search for the next one goes on inside the value.
      NAMED = /(?:(?<![[:word:].-])|#{ESCAPE})#{NAME}(?:#{BETWEEN}|#{VALUE}|#{QUOTED})
              |(?:#{FIRST})#{WORD}#{SPACE}/x.freeze
      # The same in all lines but the first one, where a sentence may begin with the name.
      NAMED_BELOW = /#{NAMED}|\A#{WORD}#{SPACE}/.freeze
      # The end of a line, unless the next one has the value of a name in this one.
      BREAK = /(?<=\n)(?!#{INDENT}[\\"']*+(?i:value|string)?[\\"']*+[ \t]*+[=:>])/.freeze
      OPTION = /\A--?[[:word:].-]++\z/.freeze
      private_constant :WORD, :NAME, :INDENT, :QUOTES, :SEPARATOR, :BETWEEN, :VALUE, :QUOTED, :FIRST, :ESCAPE, :SPACE,
                       :NAMED, :NAMED_BELOW, :BREAK, :OPTION

      # @param names [SecretNames]
      # @param replacement [String, nil]
      def initialize(names, replacement)
        @names = names
        @replacement = replacement
      end

      # @param text [String]
      # @return [String] a copy without secrets
      def of(text)
        read(text).first
      end

      # Replaces secrets in texts that follow one another, such as the lines that a command has printed. A secret may
      # begin in one and end in another: all after one that does not end are replaced.
      # @param texts [Array<String>]
      # @return [Array<String, nil>]
      def of_all(texts)
        open = false
        texts.map do |text|
          next @replacement if open

          shown, open = read(text)
          open ||= text.match?(OPTION) && @names.include?(text)
          shown
        end
      end

      private

      # @return [Array(String, Boolean)] a copy without secrets, and whether the text ends inside one
      def read(text)
        shown, in_key = KeyBlocks.replace(text, @replacement)
        shown, in_value = lines(UrlPasswords.replace(shown, @replacement))
        [shown, in_key || in_value]
      end

      def lines(text)
        shown = []
        column = nil
        value = SecretValue.new
        open = text.split(BREAK).each_with_index.any? do |line, number|
          named = named(line, number.zero? ? NAMED : NAMED_BELOW)
          value.read(line)
          unless below?(line, column)
            shown << replaced(line, named)
            column = (column(line) if named)
          end
          named && value.goes_on?(named)
        end
        [shown.join, open]
      end

      # @return [MatchData, nil] the first name of a secret
      def named(line, pattern)
        line.scan(pattern) do
          match = Regexp.last_match
          return match if secret?(match[0])
        end
        nil
      end

      def secret?(name)
        @names.include?(name) || (name.start_with?('\\', "\e") && @names.include?(name.sub(ESCAPE, '')))
      end

      def replaced(line, named)
        return line unless named

        start = named.pre_match + named[0] + named.post_match[/\A[ \t]*/]
        "#{start}#{@replacement}#{line[/\r?\n\z/]}"
      end

      # @param column [Integer, nil] of the secret in a line above
      def below?(line, column)
        !column.nil? && (column(line) > column || line.match?(/\A[+-]?\s*\z/))
      end

      def column(line)
        line[/\A#{INDENT}/].length
      end
    end
    private_constant :SecretText
  end
end
