# frozen_string_literal: true

require 'simpkv/query/compiler'
require 'simpkv/query/sql_functions'

module Simpkv
  module Query
    # Answers queries from an index.
    class Engine
      # Messages of SQLite about a query that is too large.
      TOO_LARGE = /too many|too large|too big|parser stack overflow|maximum depth/i.freeze

      # @param database [SQLite3::Database] that was opened for reading
      # @param rows [Integer, nil] an answer may have at most so many
      # @param details [String, nil] the secret of the marks that stand for details of reports: see {ReportDetails}; nil
      #   to have null in place of these
      def initialize(database, rows: nil, details: nil)
        @database = database
        @rows = rows
        @functions = SqlFunctions.new(database, details)
      end

      # @return [Boolean] whether answers have such marks
      def details?
        @functions.details
      end

      # @param entity [String, nil] a name as in a path, such as fact-contents; nil if the query begins with `from`
      # @param query [Array, nil] in PuppetDB's AST; nil for all rows
      # @param paging [Paging]
      # @param options [Hash{String => Object}] parameters of events and of counts of events, such as `summarize_by`
      # @yieldparam row [String] the JSON text of a row
      # @return [Integer, nil] the number of rows of all pages, if the paging wants it
      # @raise [InvalidError] if the query is wrong
      # @raise [LimitError] if the answer has too many rows
      def query(entity, query, paging = Paging.none, options = {}, &block)
        statement = Compiler.new(entity, options).compile(query, paging)
        guarded do
          each_row(statement.rows, &block)
          total(statement.total) if paging.total?
        end
      end

      private

      def each_row(rows)
        count = 0
        @database.execute(rows.sql, rows.binds) do |row|
          @functions.check
          count += 1
          raise LimitError, "The answer has more than #{@rows} rows" if @rows && count > @rows

          yield row.first
        end
        @functions.check
      end

      def total(statement)
        count = @database.get_first_value(statement.sql, statement.binds)
        @functions.check
        count
      end

      def guarded
        yield
      rescue SQLite3::InterruptException
        raise LimitError, 'The query takes too long'
      rescue SQLite3::TooBigException, SQLite3::SQLException => e
        raise unless e.message.match?(TOO_LARGE)

        raise InvalidError, 'The query is too large'
      end
    end
  end
end
