# frozen_string_literal: true

require 'simpkv/server/console/api'

module Simpkv
  module Server
    module Console
      # The rows of an answer to a query, which may have limits of its own. The API would take those of a page in their
      # place.
      class QueryRows
        # @param api [Api]
        # @param query [String] PQL, or an AST in JSON
        def initialize(api, query)
          @api = api
          @query = query
        end

        # @param offset [Integer] of the first row
        # @param limit [Integer] rows at most
        # @return [Api::Found]
        # @raise [Problem, Error]
        def find(offset, limit)
          from, most = own_limits
          most ||= Float::INFINITY
          found = @api.find(nil, @query, limit: limit.clamp(1, [most - offset, 1].max), offset: from + offset)
          total = (found.total - from).clamp(0, most)
          Api::Found.new(offset < total ? found.rows : [], total)
        end

        private

        # @return [Array(Integer, Integer)] offset and limit of the query; 0 and nil for none
        def own_limits
          ast = @api.get(Api.path('pdb', 'query', 'v4'), 'query' => @query, 'ast_only' => true)
          clauses = ast.grep(Array).select { |clause| %w[offset limit].include?(clause.first) }.to_h
          [clauses.fetch('offset', 0), clauses['limit']]
        end
      end
    end
  end
end
