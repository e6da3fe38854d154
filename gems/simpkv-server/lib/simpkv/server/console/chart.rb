# frozen_string_literal: true

require 'erubi'

module Simpkv
  module Server
    module Console
      # Charts, as SVG without a script. A page shows the same numbers in a table. A bar may lead to a page: then its
      # whole place does, so that a finger finds it.
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
        # The height of a chart of values over time.
        OVER_TIME = 60
        # The characters of labels below columns for which a phone has room.
        NARROW = 50
        private_constant :COLUMNS, :ABOVE, :BELOW, :FILLED, :ROW, :BAR, :LONGEST, :OVER_TIME, :NARROW

        # - `label`: the short text below a column, or the text above a bar
        # - `name`: the full name, for those who point at the column
        # - `numbers`: by series, numbers of at least 0
        # - `address`: of the page of the column; nil for none
        Column = Struct.new(:label, :name, :numbers, :address)

        # @param title [String] what the chart shows, in a sentence that stands for it
        # @param columns [Array<Column>]
        # @param series [Array<String>] in the order from the bottom to the top. They are classes of CSS, and no data
        # @return [String] HTML
        def self.stacked(title, columns, series)
          new(title).stacked(columns, series)
        end

        # @param title [String] as for {stacked}
        # @param rows [Array<Array(Object, Numeric, String)>] a text, its number and the address of its page, or nil; in
        #   the order from the top
        # @return [String] HTML: horizontal bars
        def self.bars(title, rows)
          new(title).bars(rows)
        end

        # @param title [String] as for {stacked}
        # @param values [Array<Numeric, nil>] at even times; nil for none
        # @param failed [Array<Boolean>] whether something did not answer at these times
        # @return [String] HTML: a line of the values, and a mark where something did not answer
        def self.over_time(title, values, failed = [])
          new(title).over_time(values, failed)
        end

        # @param title [String]
        def initialize(title)
          @title = title
        end

        # @return [String] see {Chart.stacked}
        def stacked(columns, series)
          most = columns.map { |column| column.numbers.values.sum }.max || 0
          place = 100.0 / [columns.length, 1].max
          labels = labels(columns, place)
          drawn = columns.each_with_index.map do |column, at|
            linked(column.address, column.name) { column(column, at * place, place, series, most) + labels[at] }
          end
          bottom = ABOVE + COLUMNS
          svg(bottom + BELOW, %(<text x="0" y="11">#{most}</text>), line(ABOVE), line(bottom), *drawn)
        end

        # @return [String] see {Chart.bars}
        def bars(rows)
          most = rows.map { |row| row[1] }.max || 0
          drawn = rows.each_with_index.map do |(name, number, address), at|
            linked(address, "#{short(name)}: #{number}") { bar(name, number, at * ROW, most) }
          end
          svg(rows.length * ROW, *drawn)
        end

        # @return [String] see {Chart.over_time}
        def over_time(values, failed)
          most = [values.compact.max || 0, 0.001].max
          heights = values.map { |value| value && (OVER_TIME - (OVER_TIME * value.fdiv(most))).round(1) }
          shape = %(viewBox="0 0 #{[values.length, 1].max} #{OVER_TIME}" preserveAspectRatio="none")
          paths = { 'bar' => heights, 'failed' => failed.map { |is| 0 if is } }
          %(<svg class="chart over-time" role="img" height="#{OVER_TIME}" #{shape}><title>#{h(@title)}</title>) +
            "#{paths.map { |kind, tops| %(<path class="#{kind}" d="#{steps(tops)}"/>) }.join}</svg>"
        end

        private

        # The links in an image would be parts of it, which nobody can reach.
        def svg(height, *parts)
          role = parts.any? { |part| part.start_with?('<a ') } ? 'group' : 'img'
          %(<svg class="chart" role="#{role}" height="#{height}"><title>#{h(@title)}</title>#{parts.join}</svg>)
        end

        # @yieldreturn [String] HTML
        # @return [String] HTML: in a link, if there is an address
        def linked(address, name)
          return yield unless address

          %(<a href="#{h(address)}" aria-label="#{h(short(name, LONGEST * 5))}">#{yield}</a>)
        end

        # @param heights [Array<Numeric, nil>] from the top
        # @return [String] the path of areas from the bottom to these heights
        def steps(heights)
          heights.each_with_index.map { |top, at| "M#{at} #{OVER_TIME}V#{top}h1V#{OVER_TIME}z" if top }.compact.join
        end

        def line(height)
          %(<line x1="0" x2="100%" y1="#{height}" y2="#{height}"/>)
        end

        def column(column, left, place, series, most)
          parts = stack(column, series, most) do |kind, name, top, height|
            rect(kind, name, left + (place * (1 - FILLED) / 2), top, place * FILLED, height)
          end
          shape = %(x="#{percent(left)}" y="0" width="#{percent(place)}" height="#{ABOVE + COLUMNS}")
          target = %(<rect class="place" #{shape}/>) if column.address
          "#{target}#{parts.join}"
        end

        # A phone leaves out spare ones, and those that would reach beyond an edge then.
        #
        # @return [Array<String>] HTML: the texts below the columns
        def labels(columns, place)
          step = columns.sum { |column| column.label.to_s.length + 1 }.fdiv(NARROW).ceil
          columns.each_with_index.map do |column, at|
            spare = ' class="spare"' if step > 1 && (at % step != step / 2 || at == columns.length - 1)
            %(<text x="#{percent((at + 0.5) * place)}" y="#{ABOVE + COLUMNS + 13}" text-anchor="middle"#{spare}>) +
              "#{h(short(column.label))}</text>"
          end
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
