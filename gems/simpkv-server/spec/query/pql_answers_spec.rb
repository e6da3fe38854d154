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

  # They were refused, and the same in an AST was not.
  it 'compares integers of more than 64 bits exactly' do
    expect([0, 1].map { |more| answer("inventory[certname] { facts.huge = #{(2**64) + more} }").length }).to eq([0, 1])
    expect(answer("inventory[certname] { facts.huge < 1#{'0' * 400} }")).to eq([{ 'certname' => 'db1' }])
    expect(answer("facts[certname] { name = 'huge' and value > #{2**63} }")).to eq([{ 'certname' => 'db1' }])
    expect { answer("nodes[certname] { limit #{2**63} }") }
      .to be_refused("Illegal value '#{2**63}' for :limit; expected a positive non-zero integer.")
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
