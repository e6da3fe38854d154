# frozen_string_literal: true

module Simpkv
  module Server
    module Console
      # What is wrong with a query, and where.
      class QueryMistake
        # Characters of the line that are shown on each side of the mistake.
        AROUND = 200
        private_constant :AROUND

        # @return [String]
        attr_reader :message

        # @param message [String] of the API
        # @param query [String]
        # @param place [Integer, nil] see {Simpkv::Query::InvalidError}
        def initialize(message, query, place)
          @message = message
          return unless place&.between?(0, query.length)

          *_, start = query[0...place].lines("\n")
          start = '' if start.nil? || start.end_with?("\n")
          @at = start.length
          @line = query[(place - @at)..][/.*/]
        end

        # @return [Boolean] whether there is a place
        def place?
          !@at.nil?
        end

        # @return [String] the line before the mistake
        def before
          start = [@at - AROUND, 0].max
          "#{'…' if start.positive?}#{@line[start...@at]}"
        end

        # @return [String] the character at which the mistake is; empty at the end of the line
        def character
          @line[@at].to_s
        end

        # @return [String] the line after this character
        def after
          rest = @line[(@at + 1)..].to_s
          rest.length > AROUND ? "#{rest[0, AROUND]}…" : rest
        end
      end
    end
  end
end
