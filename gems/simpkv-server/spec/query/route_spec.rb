# frozen_string_literal: true

require_relative 'query_helper'
require 'simpkv/query/route'

RSpec.describe Simpkv::Query::Route do
  include_context 'with the index of an estate'

  def answer(path)
    route = described_class.of(path)
    rows(route.entity, route.narrow(nil))
  end

  it 'finds the entity and the condition of a path' do
    entity, condition, one = described_class.of(%w[nodes web1 facts os])

    expect([entity, condition, one]).to eq(['facts', ['and', %w[= certname web1], %w[= name os]], false])
    expect(answer(%w[nodes web1 facts kernel]).map { |row| row['value'] }).to eq(%w[Linux])
    expect(answer(%w[resources Class Nginx]).length).to eq(2)
    expect(answer(%w[environments lab facts os text]).length).to eq(1)
    expect(answer(%w[producers puppet2 reports]).length).to eq(1)
  end

  it 'finds one row, also of an inactive node' do
    expect(described_class.of(%w[nodes old1]).one).to be(true)
    expect(answer(%w[nodes old1]).map { |row| row['certname'] }).to eq(%w[old1])
    expect(answer(%w[factsets old1 facts]).length).to eq(3)
    expect(answer(%w[nodes old1 facts])).to eq([])
    expect(%w[web1 old1 nosuch].map { |name| answer(['package-inventory', name]).length }).to eq([2, 1, 0])
  end

  it 'knows the row that must exist' do
    route = described_class.of(%w[nodes nope resources Class])

    expect(route.parent.subject).to eq('node nope')
    expect(rows(route.parent.entity, route.parent.ast)).to eq([])
  end

  it 'finds the metrics and logs of a report' do
    hash = rows('reports', %w[= status failed]).first['hash']

    expect(answer(['reports', hash, 'logs']).first.map { |log| log['message'] }).to eq(['Applied catalog'])
    expect(answer(['reports', hash, 'metrics']).length).to eq(2)
    expect(answer(['reports', hash, 'events']).length).to eq(2)
  end

  it 'adds the query of a client to the condition' do
    route = described_class.of(%w[facts kernel])
    query = ['extract', [%w[function count], 'value'], %w[group_by value]]

    expect(rows(route.entity, route.narrow(query)).length).to eq(2)
    expect(rows(route.entity, route.narrow(%w[= certname web1])).length).to eq(1)
    extract = route.narrow(['extract', 'value', %w[= certname web1]])
    expect(rows(route.entity, extract)).to eq([{ 'value' => 'Linux' }])
  end

  it 'knows no other paths' do
    [[], %w[cars], %w[nodes web1 cars], %w[fact_contents], %w[fact-contents x], %w[reports abc], %w[events x],
     %w[facts kernel Linux x], %w[environments lab nodes]].each do |path|
      expect(described_class.of(path)).to be_nil
    end
  end
end
