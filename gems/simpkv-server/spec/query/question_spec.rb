# frozen_string_literal: true

require 'simpkv/query/question'
require_relative 'index_helper'

RSpec.describe Simpkv::Query::Question do
  include_context 'with an index'

  let(:database) { index.reader }
  let(:question) { described_class.new('path' => ['nodes'], 'paging' => { 'limit' => 2, 'include_total' => true }) }

  before { %w[web1 web2].each { |certname| enter(certname) } }

  after { database.close }

  def enter(certname)
    documents = Simpkv::Query::Rows::Documents.new(certname: certname, digest: 'd')
    index.update { |writer| writer.replace(certname, Simpkv::Query::Rows.of(documents)) }
  end

  # X-Records was the number of rows of a later moment than the rows.
  it 'counts the rows of the moment of which it answers, though the index changes meanwhile' do
    names = []
    outcome = question.answer(database) do |row|
      names << JSON.parse(row)['certname']
      enter("more#{names.length}")
    end

    expect([names, outcome.total, certnames.length]).to eq [%w[web1 web2], 2, 4]
    expect(question.answer(database) { |_row| nil }.total).to eq 4
  end

  it 'leaves the moment after an error, so that the next question is about a later one' do
    expect { question.answer(database) { |_row| raise Simpkv::Query::LimitError, 'too many' } }
      .to raise_error(Simpkv::Query::LimitError)
    enter('web3')

    expect(question.answer(database) { |_row| nil }.total).to eq 3
  end

  it 'names what the path names and the index does not have' do
    missing = %w[nodes/web9 nodes/web9/facts nodes/web1 facts/none].to_h do |path|
      [path, described_class.new('path' => path.split('/')).answer(database) { |_row| nil }.missing]
    end

    expect(missing).to eq('nodes/web9' => 'node web9', 'nodes/web9/facts' => 'node web9', 'nodes/web1' => nil,
                          'facts/none' => nil)
  end
end
