# frozen_string_literal: true

require 'simpkv/config'
require 'simpkv/server/console/query/examples'
require 'simpkv/server/console/query/mistake'
require 'simpkv/server/console/query/rows'
require 'simpkv/server/console/query/table'
require 'simpkv/server/console/rows'
require 'simpkv/server/console/section'

module Simpkv
  module Server
    module Console
      class Query < Section
        # A query, and the answer to it.
        class QueryPage < Page
          include Rows

          # Rows of an answer on a page. They may have many columns.
          ROWS_MAX = 100
          # Characters of a query in an address, so that it stays below the limit of Puma even if all of ASCII are
          # escaped.
          CHARACTERS = 3000
          # The default of the option.
          SECONDS = Config::Sections.convert({}, 'server').fetch('query_seconds')
          private_constant :ROWS_MAX, :CHARACTERS, :SECONDS

          # @return [String] HTML
          def show
            query = given('query')
            answer, mistake = answer(query) unless query.strip.empty?
            page('Query', 'query/query', query: query, examples: QUERY_EXAMPLES, answer: answer, mistake: mistake,
                                         seconds: SECONDS, characters: CHARACTERS,
                                         table: answer && QueryTable.new(answer.rows))
          end

          private

          # @return [Array(Rows::Listed, QueryMistake)] one is nil
          def answer(query)
            offset, limit = window(max: ROWS_MAX)
            found = QueryRows.new(api, query).find(offset, limit)
            [Rows::Listed.new(found.rows, found.total, offset, limit), nil]
          rescue *ERRORS => e
            problem = Problem.of(e)
            # The page keeps the query: a person corrects it, or repeats it later.
            response.status = problem.status
            [nil, QueryMistake.new(problem.message, query, (e.place if e.is_a?(Simpkv::Query::InvalidError)))]
          end
        end
      end
    end
  end
end
