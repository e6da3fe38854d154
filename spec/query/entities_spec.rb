# frozen_string_literal: true

require_relative 'query_helper'

RSpec.describe Simpkv::Query::Entities do
  include_context 'with the index of an estate'

  it 'answers with facts as members of an inventory' do
    row = rows('inventory', %w[= certname db1]).first

    expect(row['facts']).to eq(QueryEstate::FACTS['db1'])
    expect(row['trusted']).to eq(QueryEstate::FACTS['db1']['trusted'])
    expect(row.keys).to contain_exactly('certname', 'timestamp', 'environment', 'facts', 'trusted')
  end

  it 'answers with a list of facts as a member of a factset' do
    facts = rows('factsets', %w[= certname facts-only]).first['facts']

    expect(facts['href']).to eq('/pdb/query/v4/factsets/facts-only/facts')
    expect(facts['data'].to_h { |fact| fact.values_at('name', 'value') }).to eq(QueryEstate::FACTS['facts-only'])
  end

  it 'has each scalar inside a fact as a row of fact-contents' do
    list = rows('fact-contents', %w[= name list]).to_h { |row| row.values_at('path', 'value') }

    expect(list).to eq(['list', 0] => 1, ['list', 1] => 'two', ['list', 2] => 3.5, ['list', 3] => true,
                       ['list', 4] => nil, ['list', 5, 'deep', 0] => 10, ['list', 5, 'deep', 1] => 20)
    keys = rows('fact-contents', %w[= name paths]).map { |row| row['path'] }
    expect(keys).to contain_exactly(['paths', 'a.b', 'c'], ['paths', 'x "y"'], %w[paths 0])
  end

  it 'lists the names of facts in order, as texts' do
    expect(rows('fact-names').first(3)).to eq(%w[Kernel big blank])
    expect(rows('fact-names', nil, order_by: '[{"field":"name","order":"desc"}]', limit: 1)).to eq(%w[uptime_seconds])
  end

  it 'answers with resources and edges as members of a catalog' do
    row = rows('catalogs', %w[= certname web2]).first

    expect(row['resources']['data'].map { |resource| resource['title'] }).to include('Nginx', 'web2')
    expect(row['edges']['data']).to eq([{ 'relationship' => 'contains', 'source_type' => 'Class',
                                          'source_title' => 'Nginx', 'target_type' => 'File',
                                          'target_title' => '/etc/nginx.conf' }])
    expect(rows('catalogs', %w[= certname catalog-only]).first['edges']['data']).to be_nil
  end

  it 'answers with events, metrics and logs as members of a report' do
    row = rows('reports', %w[= status failed]).first

    expect(row['resource_events']['data'].map { |event| event['status'] }).to eq(%w[failure skipped])
    expect(row['metrics']['data']).to include('category' => 'time', 'name' => 'total', 'value' => 1.25)
    expect(row['logs']['href']).to eq("/pdb/query/v4/reports/#{row['hash']}/logs")
  end

  it 'has the latest report of each node' do
    expect(nodes(['=', 'latest_report?', false], 'reports')).to eq(%w[web1])
  end

  describe '.for_path' do
    def answer(path)
      route = described_class.for_path(path)
      rows(route.entity, route.narrow(nil))
    end

    it 'finds the entity and the condition of a path' do
      entity, condition, one = described_class.for_path(%w[nodes web1 facts os])

      expect([entity, condition, one]).to eq(['facts', ['and', %w[= certname web1], %w[= name os]], false])
      expect(answer(%w[nodes web1 facts kernel]).map { |row| row['value'] }).to eq(%w[Linux])
      expect(answer(%w[resources Class Nginx]).length).to eq(2)
      expect(answer(%w[environments lab facts os text]).length).to eq(1)
      expect(answer(%w[producers puppet2 reports]).length).to eq(1)
    end

    it 'finds one row, also of an inactive node' do
      expect(described_class.for_path(%w[nodes old1]).one).to be(true)
      expect(answer(%w[nodes old1]).map { |row| row['certname'] }).to eq(%w[old1])
      expect(answer(%w[factsets old1 facts]).length).to eq(3)
      expect(answer(%w[nodes old1 facts])).to eq([])
    end

    it 'knows the row that must exist' do
      route = described_class.for_path(%w[nodes nope resources Class])

      expect(route.parent.subject).to eq('node nope')
      expect(rows(route.parent.entity, route.parent.ast)).to eq([])
    end

    it 'finds the metrics and logs of a report' do
      hash = rows('reports', %w[= status failed]).first['hash']

      expect(answer(['reports', hash, 'logs']).map { |log| log['message'] }).to eq(['Applied catalog'])
      expect(answer(['reports', hash, 'metrics']).length).to eq(2)
      expect(answer(['reports', hash, 'events']).length).to eq(2)
    end

    it 'adds the query of a client to the condition' do
      route = described_class.for_path(%w[facts kernel])
      query = ['extract', [%w[function count], 'value'], %w[group_by value]]

      expect(rows(route.entity, route.narrow(query)).length).to eq(2)
      expect(rows(route.entity, route.narrow(%w[= certname web1])).length).to eq(1)
      extract = route.narrow(['extract', 'value', %w[= certname web1]])
      expect(rows(route.entity, extract)).to eq([{ 'value' => 'Linux' }])
    end

    it 'knows no other paths' do
      [[], %w[cars], %w[nodes web1 cars], %w[fact_contents], %w[fact-contents x], %w[reports abc], %w[events x],
       %w[facts kernel Linux x], %w[environments lab nodes]].each do |path|
        expect(described_class.for_path(path)).to be_nil
      end
    end
  end
end
