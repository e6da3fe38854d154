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

  # PuppetDB lacks it.
  it 'has the time at which a node was seen last only if a query names it' do
    seen = rows('nodes', ['extract', %w[certname facts_timestamp last_seen], %w[= certname web1]]).first
    expect(seen['last_seen']).to eq(seen['facts_timestamp']).and be_a(String)
    expect(rows('nodes', %w[= certname web1]).first).not_to include('last_seen')
    expect(nodes(['<', 'last_seen', '2000-01-01'], 'nodes')).to eq([])
    expect(rows('nodes', nil, order_by: '[{"field":"last_seen"}]', limit: 1).length).to eq(1)
    expect { nodes(%w[= nosuch 1], 'nodes') }.to raise_error(/(?!.*last_seen)/)
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

  it 'has the packages of nodes' do
    bash = { 'package_name' => 'bash', 'version' => '5.2', 'provider' => 'apt' }
    expect(rows('packages', %w[= version 5.2])).to eq([bash])
    expect(rows('package-inventory', ['=', 'package_name', 'bash']).sort_by { |row| row['certname'] })
      .to eq(%w[web1 web2].map { |certname| { 'certname' => certname, **bash } })
    old = ['in', 'certname', ['extract', 'certname', ['select_package_inventory', ['=', 'version', '5.1']]]]
    expect(nodes(['and', %w[= node_state any], old], 'nodes')).to eq(%w[old1])
    expect(nodes(['subquery', 'package_inventory', ['~', 'provider', 'gem']], 'nodes')).to eq(%w[web1])
  end

  # They were invalid entities.
  it 'has no inputs of catalogs' do
    expect([rows('catalog-inputs'), rows('catalog_input_contents')]).to eq([[], []])
    expect(rows(nil, ['from', 'catalog_inputs', ['=', 'certname', 'web1']])).to eq([])
    expect(rows('catalog_inputs', ['and', ['=', 'catalog_uuid', '"'], ['<=', 'inputs', 1]])).to eq([])
    expect { rows('catalog-inputs', ['extract', %w[nosuch]]) }
      .to be_refused("Can't extract unknown 'catalog_inputs' field 'nosuch'. Acceptable fields are 'certname', " \
                     "'catalog_uuid', 'producer_timestamp', and 'inputs'")
  end
end
