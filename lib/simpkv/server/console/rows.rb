# frozen_string_literal: true

module Simpkv
  module Server
    class Console < Roda
      # Pages of rows of the index of queries.
      module Rows
        # Rows of a page: by default, and at most, so that no page has more than 100 kB.
        SIZE = 50
        SIZE_MAX = 200
        # Of the first row.
        OFFSETS = (0..999_999_999).freeze

        # - `rows`: those of this page
        # - `total`: the number of rows of all pages
        # - `offset`, `limit`: of this page
        Page = Struct.new(:rows, :total, :offset, :limit)

        private

        # @param entity [String, nil] see {Api#find}
        # @param query [Array, String, nil] see {Api#find}
        # @param order [Array<Array(String, String)>] see {Api#find}
        # @param size [Integer] rows of a page, unless the parameter `limit` says otherwise
        # @return [Page] the rows that the parameters `offset` and `limit` of this page ask for
        # @raise [Problem, Error]
        def rows_page(entity, query, order, size: SIZE)
          offset, limit = window(size)
          found = api.find(entity, query, order: order, limit: limit, offset: offset)
          Page.new(found.rows, found.total, offset, limit)
        end

        # @param rows [Array] of all pages
        # @return [Page] as {#rows_page}
        def page_of(rows, size: SIZE)
          offset, limit = window(size)
          Page.new(rows.drop(offset).first(limit), rows.length, offset, limit)
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
      end
    end
  end
end
