# frozen_string_literal: true

module Simpkv
  module Server
    module Console
      # Gives each cell of a table the heading of its column, as the attribute `data-l`: on a narrow screen, a row is a
      # card whose lines begin with it. Data in a page are escaped, so that only its own elements look like some.
      module Labels
        TABLE = %r{<table>.*?</table>}m.freeze
        HEAD = %r{<thead>(.*?)</thead>}m.freeze
        HEADING = %r{<th[^>]*>(.*?)</th>}m.freeze
        ROW = %r{<tr[^>]*>.*?</tr>}m.freeze
        CELL = /<t[dh](?=[ >])/.freeze
        # Bytes of a page with headings that stays without them, so that no page becomes too large.
        LARGE = 90_000
        private_constant :TABLE, :HEAD, :HEADING, :ROW, :CELL, :LARGE

        # @param html [String]
        # @return [String] HTML
        def self.add(html)
          labelled = html.gsub(TABLE) do |table|
            headings = table[HEAD, 1].to_s.scan(HEADING).map { |(text)| text.gsub(/<[^>]*>/, '').strip }
            headings.empty? ? table : with(headings, table)
          end
          labelled.bytesize > LARGE ? html : labelled
        end

        def self.with(headings, table)
          head, body = table.split('</thead>', 2)
          "#{head}</thead>#{body.gsub(ROW) { |row| labelled(headings, row) }}"
        end
        private_class_method :with

        def self.labelled(headings, row)
          at = -1
          row.gsub(CELL) do |begin_of_cell|
            heading = headings[at += 1].to_s
            heading.empty? || begin_of_cell == '<th' ? begin_of_cell : %(#{begin_of_cell} data-l="#{heading}")
          end
        end
        private_class_method :labelled
      end
    end
  end
end
