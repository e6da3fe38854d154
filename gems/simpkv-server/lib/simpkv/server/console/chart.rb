# frozen_string_literal: true

require 'erubi'

module Simpkv
  module Server
    module Console
      # Bar charts, as SVG without a script. A page shows the same numbers in a table.
      #
      # Positions along the width are percentages, so that texts keep their size on a narrow screen. A class of
      # `console.css` gives a bar its color: that of a status, or `bar`.
      class Chart
        # The height of the columns of a stacked chart, and the heights of the texts above and below.
        COLUMNS = 160
        ABOVE = 18
        BELOW = 18
        # The part of a column's place that the column fills.
        FILLED = 0.8
        # The height of a row of horizontal bars: a line of text, and the bar.
        ROW = 34
        BAR = 12
        # The most characters of a text in a chart.
        LONGEST = 40
        private_constant :COLUMNS, :ABOVE, :BELOW, :FILLED, :ROW, :BAR, :LONGEST

        # - `label`: the short text below a column, or the text above a bar
        # - `name`: the full name, for those who point at the column
        # - `numbers`: by series, numbers of at least 0
        Column = Struct.new(:label, :name, :numbers)

        # @param title [String] what the chart shows, in a sentence that stands for it
        # @param columns [Array<Column>]
        # @param series [Array<String>] in the order from the bottom to the top. They are classes of CSS, and no data
        # @return [String] HTML
        def self.stacked(title, columns, series)
          new(title).stacked(columns, series)
        end

        # @param title [String] as for {stacked}
        # @param rows [Array<Array(Object, Numeric)>] a text and its number, in the order from the top
        # @return [String] HTML: horizontal bars
        def self.bars(title, rows)
          new(title).bars(rows)
        end

        # @param title [String]
        def initialize(title)
          @title = title
        end

        # @return [String] see {Chart.stacked}
        def stacked(columns, series)
          most = columns.map { |column| column.numbers.values.sum }.max || 0
          place = 100.0 / [columns.length, 1].max
          drawn = columns.each_with_index.map { |column, at| column(column, at * place, place, series, most) }
          bottom = ABOVE + COLUMNS
          svg(bottom + BELOW, %(<text x="0" y="11">#{most}</text>), line(ABOVE), line(bottom), *drawn)
        end

        # @return [String] see {Chart.bars}
        def bars(rows)
          most = rows.map(&:last).max || 0
          drawn = rows.each_with_index.map { |(name, number), at| bar(name, number, at * ROW, most) }
          svg(rows.length * ROW, *drawn)
        end

        private

        def svg(height, *parts)
          %(<svg class="chart" role="img" height="#{height}"><title>#{h(@title)}</title>#{parts.join}</svg>)
        end

        def line(height)
          %(<line x1="0" x2="100%" y1="#{height}" y2="#{height}"/>)
        end

        def column(column, left, place, series, most)
          label = %(<text x="#{percent(left + (place / 2))}" y="#{ABOVE + COLUMNS + 13}" text-anchor="middle">)
          parts = stack(column, series, most) do |kind, name, top, height|
            rect(kind, name, left + (place * (1 - FILLED) / 2), top, place * FILLED, height)
          end
          "#{parts.join}#{label}#{h(short(column.label))}</text>"
        end

        # @yieldparam kind [String] of a part, and its name, the top and the height
        def stack(column, series, most)
          top = (ABOVE + COLUMNS).to_f
          present = series.select { |kind| column.numbers.fetch(kind, 0).positive? }
          present.map do |kind|
            number = column.numbers.fetch(kind)
            height = COLUMNS * number.fdiv(most)
            top -= height
            yield kind, "#{column.name}: #{number} #{kind}", top, height
          end
        end

        def bar(name, number, top, most)
          text = %(<text x="0" y="#{top + 13}">#{h(short(name))}: #{h(number)}</text>)
          width = most.zero? ? 0 : 100 * number.fdiv(most)
          text + rect('bar', "#{name}: #{number}", 0, top + ROW - BAR - 4, width, BAR)
        end

        def rect(kind, name, left, top, width, height)
          %(<rect class="#{h(kind)}" x="#{percent(left)}" y="#{top.round(2)}" width="#{percent(width)}" ) +
            %(height="#{height.round(2)}"><title>#{h(short(name, LONGEST * 5))}</title></rect>)
        end

        def percent(number)
          "#{number.round(3)}%"
        end

        def short(text, longest = LONGEST)
          text = text.to_s
          text.length > longest ? "#{text[0, longest - 1]}…" : text
        end

        def h(text)
          Erubi.h(text)
        end
      end
    end
  end
end
