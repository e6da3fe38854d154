# frozen_string_literal: true

require 'simpkv/config'
require 'simpkv/server/console/query/csv'
require 'simpkv/server/console/query/examples'
require 'simpkv/server/console/query/mistake'
require 'simpkv/server/console/query/table'

module Simpkv
  module Server
    # Queries in PQL.
    class Console
      # Rows of an answer on a page. They may have many columns.
      QUERY_ROWS_MAX = 100
      # Rows of an answer in CSV, which the service holds in memory.
      QUERY_CSV_ROWS = 10_000
      # Characters of a query in an address, so that it stays below the limit of Puma even if all of ASCII are
      # escaped.
      QUERY_CHARACTERS = 3000
      # The default of the option.
      QUERY_SECONDS = Config::Sections.convert({}, 'server').fetch('query_seconds')
      private_constant :QUERY_ROWS_MAX, :QUERY_CSV_ROWS, :QUERY_CHARACTERS, :QUERY_SECONDS

      hash_branch('', 'query') do |r|
        r.is { r.get { query_page } }
        r.is('csv') { r.get { query_csv } }
      end

      private

      def query_page
        at('/query')
        query = given('query')
        answer, mistake = query_answer(query) unless query.strip.empty?
        page('Query', 'query', query: query, examples: QUERY_EXAMPLES, answer: answer, mistake: mistake,
                               seconds: QUERY_SECONDS, characters: QUERY_CHARACTERS,
                               table: answer && QueryTable.new(answer.rows))
      end

      # @return [Array(Rows::Page, QueryMistake)] one is nil
      def query_answer(query)
        offset, limit = window(max: QUERY_ROWS_MAX)
        found = query_rows(query, limit, offset)
        [Rows::Page.new(found.rows, found.total, offset, limit), nil]
      rescue Problem, Error, ConfigError => e
        problem = Problem.of(e)
        # The page keeps the query: a person corrects it, or repeats it later.
        response.status = problem.status
        [nil, QueryMistake.new(problem.message, query, (e.place if e.is_a?(Query::InvalidError)))]
      end

      # A query may have limits of its own. The API would take those of a page in their place.
      #
      # @return [Api::Found]
      def query_rows(query, limit, offset)
        from, most = own_limits(query)
        most ||= Float::INFINITY
        found = api.find(nil, query, limit: limit.clamp(1, [most - offset, 1].max), offset: from + offset)
        total = (found.total - from).clamp(0, most)
        Api::Found.new(offset < total ? found.rows : [], total)
      end

      # @return [Array(Integer, Integer)] offset and limit of the query; 0 and nil for none
      def own_limits(query)
        ast = api.get(Api.path('pdb', 'query', 'v4'), 'query' => query, 'ast_only' => true)
        clauses = ast.grep(Array).select { |clause| %w[offset limit].include?(clause.first) }.to_h
        [clauses.fetch('offset', 0), clauses['limit']]
      end

      def query_csv
        at('/query/csv')
        found = query_rows(given('query'), QUERY_CSV_ROWS, 0)
        if found.total > QUERY_CSV_ROWS
          raise Problem.new(400, "an answer in CSV has at most #{QUERY_CSV_ROWS} rows: take the one in JSON")
        end

        response['content-type'] = 'text/csv; charset=utf-8'
        response['content-disposition'] = 'attachment; filename="query.csv"'
        QueryCsv.text(found.rows)
      end
    end
  end
end
