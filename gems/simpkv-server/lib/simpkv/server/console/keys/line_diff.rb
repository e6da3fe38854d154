# frozen_string_literal: true

require 'simpkv/server/console/section'

module Simpkv
  module Server
    module Console
      class Keys < Section
        # The lines that two texts have in common, and those of one only.
        class LineDiff
          # Lines of each text. More are not compared.
          LINES = 400
          private_constant :LINES

          # - `kind`: `same`, `from` or `to`
          Line = Struct.new(:kind, :text)

          # @param from [String]
          # @param to [String]
          def initialize(from, to)
            @from, @to = [from, to].map { |text| text.lines(chomp: true) }
          end

          # @return [Boolean] whether there are too many lines
          def large?
            [@from, @to].any? { |lines| lines.length > LINES }
          end

          # @return [Array<Line>]
          def lines
            table = lengths
            from = to = 0
            found = []
            until from == @from.length && to == @to.length
              kind = kind_at(table, from, to)
              found << Line.new(kind, kind == 'to' ? @to[to] : @from[from])
              from += 1 unless kind == 'to'
              to += 1 unless kind == 'from'
            end
            found
          end

          private

          def kind_at(table, from, to)
            return 'to' if from == @from.length
            return 'from' if to == @to.length
            return 'same' if @from[from] == @to[to]

            table[from + 1][to] >= table[from][to + 1] ? 'from' : 'to'
          end

          # @return [Array<Array<Integer>>] the length of the longest common sequence of the rests of both texts
          def lengths
            @from.reverse.each_with_object([Array.new(@to.length + 1, 0)]) do |line, table|
              table.unshift(row(line, table.first))
            end
          end

          # @param below [Array<Integer>] the row of the next line
          def row(line, below)
            (@to.length - 1).downto(0).with_object([0]) do |to, row|
              row.unshift(line == @to[to] ? below[to + 1] + 1 : [below[to], row.first].max)
            end
          end
        end
      end
    end
  end
end
