# frozen_string_literal: true

require_relative '../../../simpkv-estate/spec/command/nodes_helper'

RSpec.describe 'simpkv query' do
  include_context 'with nodes'

  let(:site) do
    { 'backends' => backends, 'estate' => estate_options, 'server' => { 'index' => File.join(folder, 'index') } }
  end

  before do
    FileUtils.chmod(0o700, folder)
    run('web1', facts: { 'os' => { 'family' => 'Debian' }, 'kernel' => 'Linux', 'db_password' => 'pl4nted' })
    run('web2', facts: { 'os' => { 'family' => 'RedHat' }, 'kernel' => 'Linux' })
  end

  it 'prints a table of the rows that PQL selects' do
    expect(simpkv!('query', 'inventory[certname, facts.os.family] { facts.kernel = "Linux" order by certname }'))
      .to eq(<<~TABLE)
        certname  facts.os.family
        web1      Debian
        web2      RedHat
      TABLE
  end

  it 'prints JSON and YAML for programs' do
    pql = 'nodes[certname] { certname = "web1" }'
    expect(data('query', pql)).to eq([{ 'certname' => 'web1' }])
    expect(YAML.safe_load(simpkv!('query', pql, '-o', 'yaml'))).to eq([{ 'certname' => 'web1' }])
    expect(data('query', 'nodes { certname = "web9" }')).to eq([])
    expect(simpkv!('query', 'nodes { certname = "web9" }')).to eq('')
  end

  it 'takes an AST, and a query from standard input' do
    ast = '["from", "nodes", ["extract", [["function", "count"]]]]'
    expect(data('query', ast)).to eq([{ 'count' => 2 }])
    expect(JSON.parse(simpkv!('query', '-', '-o', 'json', input: ast))).to eq([{ 'count' => 2 }])
  end

  it 'sees what has been stored since the last query' do
    expect(data('query', 'nodes[certname] { }').length).to eq(2)
    run('web3')
    estate.remove('web1')
    expect(data('query', 'nodes[certname] { order by certname }').map(&:values)).to eq([%w[web2], %w[web3]])
  end

  it 'prints no secrets' do
    facts = simpkv!('query', 'facts { }')
    expect(facts).to include('kernel')
    expect(facts).not_to include('pl4nted')
  end

  context 'with limits' do
    let(:site) { super().tap { |site| site['server'].update('query_seconds' => 2, 'query_rows' => 1) } }

    it 'ends a regular expression that does not end' do
      run("#{'a' * 60}b")
      expect(failure('query', "nodes { certname ~ '^(a|a|aa)*$' }")).to match([65, /longer than .*'query_seconds'/])
    end

    it 'refuses an answer with too many rows' do
      expect(failure('query', 'nodes { }')).to match([65, /more than 1 rows/])
    end
  end

  it 'names the place of a mistake' do
    expect(failure('query', 'nodes[certname] { certname = ')).to match([65, /\Asimpkv: PQL.*line 1, column 30/])
    expect(failure('query', 'nodes[colour] { }')).to match([65, /colour/])
    expect(failure('query', '["=", "certname", "web1"]')).to match([65, /from/])
  end
end
