# frozen_string_literal: true

require 'simpkv/query/pql'
require_relative 'query_helper'
require_relative '../support/pql_cases'

RSpec.describe Simpkv::Query::Engine, 'with queries in PQL' do
  include_context 'with the index of an estate'

  # @return [Array] the rows of the answer
  def answer(text)
    rows(nil, Simpkv::Query::Pql.parse(text))
  end

  it 'answers each query that PuppetDB can read, or says what is wrong with it' do
    answered, refused = PqlCases.all.compact.keys.partition do |text|
      answer(text)
    rescue Simpkv::Query::InvalidError
      nil
    end

    expect(answered.length).to be > 7 * refused.length
  end

  it 'answers a query with a long chain of conditions' do
    nodes = answer('nodes[certname] { }')
    terms = Array.new(2000) { |number| %(certname = "none#{number}") }
    expect(answer("nodes[certname] { #{terms.join(' or ')} }")).to eq([])
    expect(answer("nodes[certname] { !(#{terms.join(' or ')}) }")).to match_array(nodes)
  end

  it 'does not group by what it counts' do
    expect { answer('facts[name, count()] { group by name, count() }') }
      .to be_refused('["function","count"] cannot be in group_by')
  end
end
