# frozen_string_literal: true

module Simpkv
  module Cli
    # A line of the output that begins with a word for a state, such as `PROBLEM`. A terminal shows this word in a
    # colour, unless NO_COLOR is set (https://no-color.org) or the terminal has none.
    class StateLine
      # By state, the parameters of "select graphic rendition".
      COLOURS = { 'ok' => '32', 'warning' => '33', 'problem' => '1;31', 'critical' => '1;31', 'unknown' => '35' }.freeze
      private_constant :COLOURS

      # @param stream [IO]
      # @return [Boolean] whether it shows colours
      def self.colours?(stream)
        stream.tty? && ENV['NO_COLOR'].to_s.empty? && ENV['TERM'] != 'dumb'
      end

      # @param state [String]
      # @param text [String] the line
      def initialize(state, text)
        @state = state
        @text = text
      end

      # @return [String] the line without colours
      def to_s
        @text
      end

      # @param text [String] the line as it is printed, in which control characters are escaped already
      # @return [String] the same with its first word in the colour of the state
      def coloured(text)
        text.sub(/\A\S+/) { |word| "\e[#{COLOURS.fetch(@state)}m#{word}\e[0m" }
      end
    end
  end
end
