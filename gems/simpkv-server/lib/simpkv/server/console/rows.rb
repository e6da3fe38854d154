# frozen_string_literal: true

require 'simpkv/server/console/downloads'
require 'simpkv/server/console/sorting'

module Simpkv
  module Server
    module Console
      # Rows that a person leafs through: the parameters `offset` and `limit` say which of them a page shows. A class
      # that includes this includes {Html}, too, and has `api`, `given`, `here`, `number`, `parameter` and `response`.
      module Rows
        include Downloads
        include Sorting

        # Rows of a page: by default, and at most, so that no page has more than 100 kB.
        SIZE = 50
        SIZE_MAX = 200
        # Of the first row.
        OFFSETS = (0..999_999_999).freeze

        # - `rows`: those of this page
        # - `total`: the number of rows of all pages
        # - `offset`, `limit`: of this page
        Listed = Struct.new(:rows, :total, :offset, :limit)

        private

        # @param entity [String, nil] see {Api#find}
        # @param query [Array, String, nil] see {Api#find}
        # @param order [Array<Array(String, String)>] see {Api#find}
        # @param size [Integer] rows of a page, unless the parameter `limit` says otherwise
        # @return [Listed] the rows that the parameters `offset` and `limit` of this page ask for
        # @raise [Problem, Error]
        def rows_page(entity, query, order, size: SIZE)
          offset, limit = window(size)
          found = api.find(entity, query, order: order, limit: limit, offset: offset)
          Listed.new(found.rows, found.total, offset, limit)
        end

        # @param rows [Array] of all pages
        # @return [Listed] as {#rows_page}
        def page_of(rows, size: SIZE)
          offset, limit = window(size)
          Listed.new(rows.drop(offset).first(limit), rows.length, offset, limit)
        end

        # @return [Array(Integer, Integer)] the first row and the number of rows that this page is asked for
        # @raise [Problem] a parameter is wrong
        def window(size = SIZE, max: SIZE_MAX)
          [number('offset', 0, OFFSETS), number('limit', size, 1..max)]
        end

        # @param field [String]
        # @param text [String] a person looks for it
        # @return [Array] the condition that the field has it, in any case
        def having(field, text)
          ['~', field, "(?i)#{Regexp.escape(text)}"]
        end

        # @param list [#total] of rows
        # @param offset [Integer] of the first one on this page
        # @param limit [Integer] rows of a page
        # @return [String] HTML: links to the pages before and after this one
        def pager(list, offset = list.offset, limit = list.limit)
          total = list.total
          last = [offset + limit, total].min
          links = []
          links << page_link('prev', 'Previous', [[offset, total].min - limit, 0].max) if offset.positive?
          links << page_link('next', 'Next', last) if last < total
          shown = "<span>#{shown_rows(total, offset, last)}</span>"
          %(<nav class="pager" aria-label="Pages">#{shown}#{links.join}#{files}</nav>)
        end

        def page_link(relation, text, offset)
          %(<a rel="#{relation}" href="#{h(here(offset: offset))}">#{text}</a>)
        end

        def shown_rows(total, offset, last)
          return 'nothing found' if total.zero?

          offset < last ? "#{offset + 1} to #{last} of #{total}" : "no rows here: there are #{total}"
        end
      end
    end
  end
end
