# frozen_string_literal: true

require 'simpkv/query/builder'
require 'simpkv/query/index'
require 'simpkv/query/question'
require 'simpkv/query/workers'

module Simpkv
  module Query
    # Queries without a service: this process brings the index up to date, and a worker answers, so that the limits of a
    # query hold here as well. MRI only: it needs SQLite.
    class Session
      # @param estate [Estate]
      # @param options [Hash{String => Object}] of the section `server`: see {Config::Sections::Server}
      # @raise [ConfigError] the index has no place
      def initialize(estate, options)
        @estate = estate
        @index = Index.of(estate, options['index'])
        @builder = Builder.new(estate, @index)
        @limits = { seconds: options['query_seconds'], rows: options['query_rows'] }
      end

      # @param query [String, Array] PQL, or an AST, also as text
      # @return [Array<Hash>] the rows
      # @raise [InvalidError] the query is wrong
      # @raise [LimitError] it takes too long, or has too many rows
      # @raise [StaleError] the index is not complete any more
      # @raise [Error, ConfigError]
      def rows(query)
        question = { 'query' => query }
        Question.new(question).ast
        refresh
        answer(question)
      end

      private

      # Once a session: all queries of a catalog or a command are about the same time.
      def refresh
        return if @refreshed

        @builder.refresh
        @refreshed = true
      end

      # The worker ends with its answer: nothing tells when a session does.
      def answer(question)
        workers = Workers.new(@index.path, count: 1, **@limits)
        workers.ask(question, @estate).data
      rescue DamagedError
        @index.delete
        raise
      ensure
        workers&.close
      end
    end
  end
end
