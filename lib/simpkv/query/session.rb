# frozen_string_literal: true

require 'json'
require 'simpkv/query/builder'
require 'simpkv/query/index'
require 'simpkv/query/question'

module Simpkv
  module Query
    # Queries that this process answers itself, from the index, which it brings up to date first. MRI only: it needs
    # SQLite.
    class Session
      # Seconds that a query may take.
      SECONDS = 60
      private_constant :SECONDS

      # @param estate [Estate]
      # @param folder [String, nil] the option `index` of `server`
      # @raise [ConfigError] the index has no place
      def initialize(estate, folder)
        @index = Index.of(estate, folder)
        @builder = Builder.new(estate, @index)
      end

      # @param query [String, Array] PQL, or an AST, also as text
      # @return [Array<Hash>] the rows
      # @raise [InvalidError] the query is wrong
      # @raise [LimitError] it takes too long
      # @raise [StaleError] the index is not complete any more
      # @raise [Error, ConfigError]
      def rows(query)
        question = Question.new('query' => query)
        question.ast
        refresh
        @index.read { |database| answer(question, database) }
      end

      private

      # Once a session: all queries of a catalog or a command are about the same time.
      def refresh
        return if @refreshed

        @builder.refresh
        @refreshed = true
      end

      def answer(question, database)
        # Somebody may have deleted it since the refresh.
        Index::State.of(database).demand(Float::INFINITY)
        database.statement_timeout = SECONDS * 1000
        rows = []
        question.answer(database) { |row| rows << JSON.parse(row) }
        rows
      end
    end
  end
end
