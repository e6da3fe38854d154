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

  it 'has no packages' do
    expect(rows('packages')).to eq([])
    expect(rows('package-inventory', %w[= certname web1])).to eq([])
  end
end
