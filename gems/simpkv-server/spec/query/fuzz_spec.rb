# frozen_string_literal: true

require_relative 'query_helper'
require_relative '../support/random_queries'

# FUZZ_QUERIES=100000 asks more. A failure prints the query and the seed, which FUZZ_SEED takes.
RSpec.describe Simpkv::Query::Engine, 'with random queries' do
  include_context 'with the index of an estate'

  # Some seconds.
  number = Integer(ENV.fetch('FUZZ_QUERIES', '5000'), 10)

  # @return [Symbol] how a query ended
  def outcome(entity, query, paging, options)
    rows = 0
    engine.query(entity, query, Simpkv::Query::Paging.of(**paging), options) do |row|
      JSON.parse(row)
      rows += 1
    end
    rows.zero? ? :empty : :answered
  rescue Simpkv::Query::InvalidError
    :refused
  end

  it "answers or refuses each of #{number}" do
    seed = Integer(ENV.fetch('FUZZ_SEED', RSpec.configuration.seed.to_s), 10)
    queries = RandomQueries.new(seed)
    outcomes = Array.new(number) do
      question = queries.next
      outcome(*question)
    rescue StandardError => e
      raise "#{question.inspect} with FUZZ_SEED=#{seed}: #{e.class}: #{e.message}"
    end

    shares = outcomes.tally.transform_values { |count| count.fdiv(number) }
    expect(shares.values_at(:answered, :empty, :refused)).to all(be > 0.2)
  end
end
