# frozen_string_literal: true

require 'simpkv/server/console/query/csv'
require 'simpkv/server/console/query/query_page'
require 'simpkv/server/console/query/rows'
require 'simpkv/server/console/section'

module Simpkv
  module Server
    module Console
      # Queries in PQL: /query.
      class Query < Section
        # Rows of an answer in CSV, which the service holds in memory.
        CSV_ROWS = 10_000
        private_constant :CSV_ROWS

        route do |r|
          r.is(['', true]) do
            at('/query')
            r.get { QueryPage.new(visit).show }
          end
          r.is('csv') do
            at('/query/csv')
            r.get { csv(QueryRows.new(visit.api, visit.given('query')).find(0, CSV_ROWS)) }
          end
        end

        private

        # @param found [Api::Found]
        # @return [String] the answer in CSV
        def csv(found)
          if found.total > CSV_ROWS
            raise Problem.new(400, "an answer in CSV has at most #{CSV_ROWS} rows: take the one in JSON")
          end

          response['content-type'] = 'text/csv; charset=utf-8'
          response['content-disposition'] = 'attachment; filename="query.csv"'
          QueryCsv.text(found.rows)
        end
      end
    end
  end
end
