# frozen_string_literal: true

require 'simpkv/query/pql'
require_relative '../support/pql_cases'
require_relative 'puppetdb_helper'

# What PuppetDB makes of the texts with which spec/query/pql_spec.rb tests the parser.
RSpec.describe Simpkv::Query::Pql, 'and a PuppetDB' do
  include_context 'with a PuppetDB'

  it 'make the same ASTs, and refuse the same texts' do
    answers = PqlCases.all.to_h { |text, ast| [text, [PqlCases.ask(@puppetdb.client, text), ast]] }

    expect(answers.reject { |_, (answer, ast)| answer.eql?(ast) }).to eq({})
  end

  # Each of them is refused later, when it has become SQL.
  it 'differ in queries that PuppetDB only seems to understand' do
    texts = ['nodes { facts { } }', 'nodes { facts { limit 5 } }', 'nodes { certname in facts { } }',
             'nodes { limit -5 }']
    expect(texts.map { |text| PqlCases.ask(@puppetdb.client, text) }).to all(match(/: [45]00 (?!PQL parse error)/))
    texts.each { |text| expect { described_class.parse(text) }.to raise_error(Simpkv::Query::InvalidError) }
  end
end
