# frozen_string_literal: true

module Simpkv
  module Server
    class Console < Roda
      # What is wrong with a query, and where: the API tells the line and the column of a mistake in PQL.
      class QueryMistake
        PLACE = /\bline (\d+), column (\d+)/.freeze
        # Characters of the line that are shown on each side of the mistake.
        AROUND = 200
        private_constant :PLACE, :AROUND

        # @return [String]
        attr_reader :message

        # @param message [String] of the API
        # @param query [String]
        def initialize(message, query)
          @message = message
          @query = query
          line, column = message.match(PLACE)&.captures&.map { |number| Integer(number, 10) }
          @line = line && query.split("\n", -1)[line - 1]
          @at = column - 1 if @line && column.between?(1, @line.length + 1)
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
