# frozen_string_literal: true

require 'json'
require 'simpkv/query/engine'
require 'simpkv/query/index'
require 'simpkv/query/paging'
require 'simpkv/query/pql'
require 'simpkv/query/route'

module Simpkv
  module Query
    # A question, as plain data that JSON can hold. Its members:
    #
    # path:: the segments of a path of the API below its version, such as `["nodes", "web1", "facts"]`; may be missing
    # query:: an AST, or a text: JSON, or without a path PQL; nil asks for all rows
    # paging:: `limit`, `offset`, `order_by`, `include_total`: see {Paging.of}; may be missing
    # options:: parameters of events and of counts of events: see {Engine#query}; may be missing
    # details:: the secret of the marks of details of reports: see {ReportDetails}; without it, these are null
    class Question
      # Of a text that is JSON, and not PQL.
      JSON_LIST = /\A\s*\[/.freeze
      FROM = 'Your initial query must be of the form: ["from",<entity>,(<optional-query>)]. Check your query and ' \
             'try again.'
      private_constant :JSON_LIST, :FROM

      # - `total`: the number of rows without paging; nil if that was not asked for
      # - `missing`: what the path names and the index does not have, such as `node web1`; nil for nothing
      # - `details`: whether rows have marks of details
      Outcome = Struct.new(:total, :missing, :details)

      # @param members [Hash{String => Object}] see above
      # @raise [InvalidError] there is no such path
      def initialize(members)
        @members = members
        path = members['path'].to_a
        @route = Route.of(path)
        raise InvalidError, "there is no path #{path.join('/')}" if @route.nil? && path.any?
      end

      # @return [Boolean] whether the answer is one row, and not a list
      def one?
        @route ? @route.one : false
      end

      # @return [Array, nil] the query without the condition of the path
      # @raise [InvalidError] it is malformed
      def ast
        query = @members['query']
        ast = query.is_a?(String) ? parse(query) : query
        raise InvalidError, FROM if @route.nil? && !from?(ast)

        ast
      end

      # Answers from one moment of the index, also if it changes meanwhile.
      #
      # @param database [SQLite3::Database] of the index
      # @yieldparam row [String] JSON
      # @return [Outcome]
      # @raise [InvalidError]
      def answer(database)
        query = @route ? @route.narrow(ast) : ast
        rows = 0
        engine = Engine.new(database, details: @members['details'])
        Index.transaction(database, 'DEFERRED') do
          total = engine.query(@route&.entity, query, paging, @members['options'] || {}) do |row|
            rows += 1
            yield row
          end
          Outcome.new(total, rows.zero? ? missing(database) : nil, engine.details?)
        end
      end

      private

      def parse(text)
        return Pql.parse(text) if @route.nil? && !text.match?(JSON_LIST)

        text.strip.empty? ? nil : JSON.parse(text)
      rescue JSON::NestingError
        raise InvalidError, Compiler::Syntax::TOO_DEEP, cause: nil
      rescue JSON::ParserError
        raise InvalidError, 'Json parse error: the query is not JSON', cause: nil
      end

      def from?(ast)
        ast.is_a?(Array) && ast.first == 'from'
      end

      def paging
        Paging.of(**(@members['paging'] || {}).transform_keys(&:to_sym))
      end

      def missing(database)
        return @route.subject if one?

        parent = @route&.parent
        parent.subject if parent && !there?(database, parent)
      end

      def there?(database, route)
        found = false
        Engine.new(database).query(route.entity, route.ast, Paging.of(limit: 1)) { found = true }
        found
      end
    end
  end
end
