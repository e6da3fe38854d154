# frozen_string_literal: true

require 'parslet'
require 'simpkv/query'

module Simpkv
  module Query
    module Pql
      # The text of a query while it is parsed: it hands out tokens, and counts how deep the parser is.
      class Text < Parslet::Source
        # The levels of parentheses, subqueries, negations and lists within each other.
        MAX_DEPTH = 50

        # @param text [String] valid UTF-8
        def initialize(text)
          super
          @text = text
          @depth = 0
        end

        # @param pattern [Regexp]
        # @return [Parslet::Slice, nil] what the pattern matches here, which may be empty; nil if it does not match
        def take(pattern)
          length = matches?(pattern)
          return unless length

          start = pos
          self.bytepos = start.bytepos + length
          Parslet::Slice.new(start, @text.byteslice(start.bytepos, length))
        end

        # Enters a level.
        # @raise [InvalidError] if there are too many
        def enter
          @depth += 1
          raise mistake("a query can be at most #{MAX_DEPTH} levels deep") if @depth > MAX_DEPTH
        end

        # Leaves a level.
        def leave
          @depth -= 1
        end

        # @param what [String] what is wrong
        # @param byte [Integer] the number of bytes before the mistake
        # @return [InvalidError]
        def mistake(what, byte = bytepos)
          text = before(byte)
          line = text.count("\n") + 1
          column = text.length - (text.rindex("\n") || -1)
          InvalidError.new("PQL parse error at line #{line}, column #{column}: #{what}", text.length)
        end

        # @param byte [Integer]
        # @return [String] what is before it
        def before(byte)
          @text.byteslice(0, byte)
        end

        # @param byte [Integer]
        # @return [Boolean] whether the text has no more than this number of bytes
        def ends?(byte)
          byte >= @text.bytesize
        end
      end
    end
  end
end
