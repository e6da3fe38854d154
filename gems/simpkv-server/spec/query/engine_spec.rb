# frozen_string_literal: true

require_relative 'query_helper'

RSpec.describe Simpkv::Query::Engine do
  include_context 'with the index of an estate'

  # @return [Integer] the deepest nesting that is answered, and not refused
  def deepest
    (1..60).take_while do |depth|
      engine.query('nodes', yield(depth)) { |_| nil }
      true
    rescue Simpkv::Query::InvalidError
      false
    end.max
  end

  it 'yields the JSON text of each row' do
    rows = []
    engine.query('environments', %w[= name lab]) { |row| rows << row }

    expect(rows).to eq(['{"name":"lab"}'])
  end

  it 'bounds the rows of an answer' do
    bounded = described_class.new(@database, rows: 3)

    expect { bounded.query('nodes', nil) { |_| nil } }
      .to raise_error(Simpkv::Query::LimitError, 'The answer has more than 3 rows')
    expect { bounded.query('nodes', nil, Simpkv::Query::Paging.of(limit: 3)) { |_| nil } }.not_to raise_error
  end

  it 'says that a query takes too long if somebody interrupts it' do
    database = @database
    expect { engine.query('facts', nil) { |_| database.interrupt } }
      .to raise_error(Simpkv::Query::LimitError, 'The query takes too long')
  end

  it 'answers queries that are nested deeply enough for people' do
    negation = ->(depth) { depth.times.reduce(%w[= certname web1]) { |query, _| ['not', query] } }
    inner = ->(depth) { depth.times.reduce(%w[= certname web1]) { |query, _| ['subquery', 'nodes', query] } }
    both = lambda do |depth|
      depth.times.reduce(%w[= certname web1]) { |query, _| ['or', ['and', query, %w[= certname x]], %w[= certname y]] }
    end

    from = lambda do |depth|
      depth.times.reduce(%w[= certname web1]) do |query, _|
        ['in', 'certname', ['from', 'nodes', ['extract', 'certname', ['and', query, %w[= certname web1]]]]]
      end
    end

    expect([deepest(&negation), deepest(&inner), deepest(&both)]).to all(be >= 9)
    expect(deepest(&from)).to be >= 7
  end

  it 'refuses a query that SQLite finds too large' do
    query = 15.times.reduce(%w[= certname web1]) { |inner, _| ['subquery', 'nodes', inner] }

    expect { engine.query('nodes', query) { |_| nil } }.to be_refused('The query is too large')
  end
end
