# frozen_string_literal: true

require 'simpkv/query'
require 'simpkv/server/problem'
require 'simpkv/server/api/node_view'
require_relative 'server_helper'

RSpec.shared_context 'with two nodes' do
  let(:estate) { Simpkv::Estate.new(options) }

  before do
    estate.make
    estate.facts.save('web1', { 'os' => { 'name' => 'Debian' }, 'db_password' => 'pl4nted-fact' },
                      trusted: { 'certname' => 'web1', 'extensions' => { 'join_token' => 'pl4nted-trusted' } })
    estate.statuses.put('web1', 'last_seen' => '2026-11-25T10:00:00Z', 'environment' => 'production',
                                'status' => 'failed', 'changes' => 1, 'failures' => 2)
    estate.statuses.put('web2', 'last_seen' => '2026-11-25T11:00:00Z', 'environment' => 'production',
                                'status' => 'changed', 'changes' => 3, 'failures' => 0)
  end
end

RSpec.describe 'The API of nodes' do
  include_context 'with a service for all examples', '--bind', 'tcp://127.0.0.1:0'
  include_context 'with two nodes'

  it 'lists nodes, with filters and in any order' do
    names = ->(query) { client.get("/v1/nodes?#{query}").data['nodes'].map { |node| node['name'] } }
    expect(names.call('')).to eq(%w[web1 web2])
    expect(names.call('filter=status%3Dfailed')).to eq(%w[web1])
    expect(names.call('filter=failures%3E1,name~%5Eweb')).to eq(%w[web1])
    expect(names.call('sort=last_seen&reverse=true')).to eq(%w[web2 web1])
    %w[filter=foo filter=colour%3Dred filter=status%3Dtypo sort=colour foo=1].each do |query|
      expect(client.get("/v1/nodes?#{query}").status).to eq(400)
    end
  end

  # 16 such requests used to occupy all threads of the service forever.
  it 'gives up filters that need too much time' do
    estate.statuses.put('w' * 12, 'status' => 'failed')
    stub_const('Simpkv::Estate::NodeFilter::SECONDS', 0.1)
    list = Simpkv::Estate::NodeList.new(estate)
    slow = '~^(\\w|\\w|\\w|\\w|\\w|\\w|\\w)*(\\w)\\2(?!.|$)|failed'
    expect { list.filters(["status#{slow}"] * 100) }.to raise_error(Simpkv::InvalidError, /simpler/)
    expect { list.nodes(filters: list.filters(["name#{slow}"])) }.to raise_error(Simpkv::InvalidError, /simpler/)
  end

  # An agent may send anything as a fact. It was shown, in the list of nodes as well, and a filter could find it.
  it 'shows no fact in the form of a Sensitive' do
    odd = { '__ptype' => 'Sensitive', '__pvalue' => 'pl4nted' }
    estate.facts.save('web4', { 'virtual' => odd, 'os' => { 'name' => odd }, 'list' => [odd] }, trusted: { 'a' => odd })
    shown = %w[/v1/nodes/web4/facts /v1/nodes/web4 /v1/nodes?filter=name%3Dweb4].map { |path| client.get(path).body }
    expect(shown).to all(include('[redacted]'))
    expect(shown.join).not_to include('pl4nted')
    %w[virtual~pl4 os.name~pl4 virtual.__pvalue~pl4].each do |filter|
      expect(client.get("/v1/nodes?filter=name%3Dweb4,#{filter}").data['nodes']).to eq([])
    end
  ensure
    client.delete('/v1/nodes/web4')
  end

  it 'shows what is known of a node, without secrets' do
    expect(client.get('/v1/nodes/web1').data).to include('name' => 'web1', 'status' => include('status' => 'failed'))
    facts = client.get('/v1/nodes/web1/facts')
    expect(facts.data['values']).to eq('os' => { 'name' => 'Debian' }, 'db_password' => '[redacted]')
    expect(facts.data['trusted']).to eq('certname' => 'web1', 'extensions' => { 'join_token' => '[redacted]' })
    expect(client.get('/v1/nodes/web1/reports').data).to eq('reports' => [])
    expect(client.get('/v1/nodes/web1/exports').data).to eq('exports' => {})
    %w[web3 web3/facts web3/inspection web3/record].each do |path|
      expect(client.get("/v1/nodes/#{path}").status).to eq(404)
    end
    expect(client.get('/v1/nodes/web1/colour').status).to eq(404)
    expect(client.get('/v1/nodes/.estate').status).to eq(400)
  end

  it 'declares a node, and removes the declaration' do
    record = { 'environment' => 'production', 'classes' => ['ntp'],
               'parameters' => { 'token' => 'x', 'role' => 'web' } }
    expect([client.put('/v1/nodes/web1/record', record), client.put('/v1/nodes/web1/record', record)].map(&:status))
      .to eq([201, 204])
    expect(client.get('/v1/nodes/web1/record').data['parameters']).to eq('token' => '[redacted]', 'role' => 'web')
    hidden = { 'attributes' => { '__ptype' => 'Sensitive', '__pvalue' => 'x' }, 'ports' => [{ 'address' => 'x' }],
               'sensitive' => ['/ports'] }
    expect(client.put('/v1/nodes/web1/record', hidden).status).to eq(204)
    expect(client.get('/v1/nodes/web1/record').data)
      .to eq(hidden.merge('attributes' => { '[redacted]' => '[redacted]' }, 'ports' => ['[redacted]']))
    expect(client.put('/v1/nodes/web1/record', 'colour' => 'red')).to have_attributes(status: 400)
    client.put('/v1/nodes/new1/record', 'environment' => 'staging')
    expect(%w[web1 web2 new1].map { |name| client.get("/v1/nodes/#{name}").data.values_at('environment', 'never_run') })
      .to eq([['production', false], ['production', false], ['staging', true]])
    expect([client.delete('/v1/nodes/web1/record'), client.delete('/v1/nodes/web1/record')].map(&:status))
      .to eq([204, 404])
  end

  it 'hides secrets in the parameters of exported resources' do
    # Puppet stores a Hash with a key that is no text so. The names in it used to count for no names.
    hash = ->(secret) { Simpkv::RichData.object('Hash', [1, 'x', 'api_key', secret]) }
    user = { 'title' => 'db', 'parameters' => { 'password' => 'pl4nted', 'uid' => 5, 'a' => [hash.call('pl4nted')],
                                                'home' => Simpkv::RichData.object('Sensitive', 'pl4nted') } }
    estate.exports.save('web1', { 'user' => [user] }, 'production')
    exported = client.get('/v1/nodes/web1/exports').data['exports']
    expect(exported['user']).to match([include('title' => 'db', 'parameters' => {
                                                 'password' => '[redacted]', 'uid' => 5, 'home' => '[redacted]',
                                                 'a' => [hash.call('[redacted]')]
                                               })])
  end

  it 'inspects a node with facts, and stores the outcome unless it is a dry run' do
    conditions = [{ 'op' => 'eq', 'args' => ['{inventory[os][name]}', 'Debian'] }]
    actions = [{ 'op' => 'set-attribute', 'args' => ['/parameters/role', 'web'] }]
    client.post('/v1/inspection_rules', 'conditions' => conditions, 'actions' => actions)
    facts = { 'os' => { 'name' => 'Debian' } }
    dry = client.post('/v1/nodes/new1/inspection?dry_run=true', facts)
    expect(dry.data['record']['parameters']).to eq('role' => 'web')
    expect(client.get('/v1/nodes/new1/inspection').status).to eq(404)
    client.post('/v1/nodes/new1/inspection', facts)
    expect(client.get('/v1/nodes/new1/inspection').data['record']['parameters']).to eq('role' => 'web')
  end

  it 'shows reports with the hash that queries have for them, and no messages of secret properties' do
    events = %w[password mode].map do |name|
      { 'resource' => 'User[db]', 'property' => name, 'message' => "#{name} set" }
    end
    estate.reports.save('web1', 'status' => 'changed', 'time' => '2026-11-25T10:00:00Z', 'events' => events)
    report = client.get('/v1/nodes/web1/reports').data['reports'].first
    expect(report['events'].map { |event| event['message'] }).to eq(['[redacted]', 'mode set'])
    # The index is up to two seconds older than the store, and may have met what an earlier example has stored.
    eventually(errors: RuntimeError) do
      answer = client.get('/pdb/query/v4/reports')
      answer.status == 200 && answer.data.map { |row| row['hash'] } == [report['hash']]
    end
  end

  describe 'a report with details' do
    let(:event) do
      { 'resource' => 'File[/a]', 'property' => 'mode', 'status' => 'success', 'time' => '2026-11-25T10:00:01Z',
        'values' => { 'old' => '0600', 'new' => { 'a' => 1 } } }
    end
    let(:line) { { 'level' => 'notice', 'message' => 'pl4nted, "quoted"', 'tags' => ['notice'] } }
    let(:logs) { [line.merge('file' => nil, 'line' => nil, 'source' => nil, 'time' => nil)] }
    let(:values) { [['0600', { 'a' => 1 }]] }
    # The index has met the status of the first run of a node that another example has had in the same second.
    let(:node) { "node#{LdapIds.next}" }

    before do
      members = { 'status' => 'changed', 'environment' => 'production', 'time' => '2026-11-25T10:00:00Z' }
      estate.reports.save(node, Simpkv::Estate::WholeReport.new(members, {}, [event], [line]))
    end

    # @return [Hash] the row of the report
    def row(client)
      rows = []
      eventually(errors: RuntimeError) do
        rows = client.get("/pdb/query/v4/reports?query=%5B%22%3D%22%2C%22certname%22%2C%22#{node}%22%5D").data
        rows.is_a?(Array) && rows.length == 1 && rows.first['hash'] == hash
      end
      rows.first
    end

    def hash
      client.get("/v1/nodes/#{node}/reports").data['reports'].first['hash']
    end

    it 'is whole in queries, and by its own path, and has no details without' do
      row = row(client)
      expect(row['logs']).to eq('href' => "/pdb/query/v4/reports/#{hash}/logs", 'data' => logs)
      expect(row['resource_events']['data'].map { |each| each.values_at('old_value', 'new_value') }).to eq(values)
      expect(client.get(row['logs']['href']).data).to eq(logs)
      expect(client.get(row['resource_events']['href']).data.map { |each| each.values_at('old_value', 'new_value') })
        .to eq(values)
      expect(client.get("/v1/report_details/#{node}/#{hash}").data)
        .to include('logs' => [line], 'events' => [include('old_value' => '0600', 'new_value' => { 'a' => 1 })])
      expect(client.get("/v1/report_details/#{node}/nope")).to have_attributes(status: 404, detail: /no report nope/)
      expect(client.get("/v1/nodes/#{node}/reports").body).not_to match(/pl4nted|"details"|0600/)
    end

    # It was shown without its logs and values.
    it 'is not there if another one replaces it while it is read' do
      allow(estate.reports).to receive(:all).and_wrap_original do |all, *arguments|
        all.call(*arguments).tap do
          (estate.options['reports'] + 1).times { estate.reports.save(node, 'status' => 'unchanged', 'events' => []) }
        end
      end
      wanted = hash
      expect { Simpkv::Server::Api::NodeView.new(estate, node).report(wanted) }
        .to raise_error(Simpkv::Server::Problem, /no report #{wanted}/)
    end

    it 'is an error in queries if its details are lost' do
      expect(row(client)['logs']['data']).to eq(logs)
      Dir.glob(File.join(@root, "globals/estate/reports/#{node}/details/*")).each { |file| File.delete(file) }
      expect(client.get("/pdb/query/v4/reports/#{hash}/logs"))
        .to have_attributes(status: 500, body: include("reports/#{node}/details/"))
      expect(client.get('/pdb/query/v4/reports?query=%5B%22extract%22%2C%22hash%22%5D').status).to eq(200)
    end

    it 'has no details for a local process that may read only' do
      local = service.client('tcp')
      row = row(local)
      expect(row['logs']['data']).to be_nil
      expect(row['resource_events']['data'].map { |each| each.values_at('old_value', 'new_value') }).to eq([[nil, nil]])
      [row['logs']['href'], '/pdb/admin/v1/archive', "/v1/report_details/#{node}/#{hash}"].each do |path|
        expect(local.get(path)).to have_attributes(status: 403, body: /report_details/)
      end
    end
  end

  it 'says that a rule refuses a node' do
    client.post('/v1/inspection_rules', 'actions' => [{ 'op' => 'fail', 'args' => ['unknown rack'] }])
    outcome = client.post('/v1/nodes/new1/inspection?dry_run=true', {}).data
    expect(outcome).to include('record' => nil, 'failed' => include('msg' => 'unknown rack'))
  end

  it 'deactivates a node' do
    expect(client.delete('/v1/nodes/web1').data['removed'].keys).to include('deactivated')
    expect(client.get('/v1/nodes').data['nodes'].map { |node| node['name'] }).to eq(%w[web2])
    expect(client.get('/v1/nodes/web1/facts').status).to eq(200)
    expect(client.delete('/v1/nodes/web1?purge=true').data['removed']).to include('facts' => true)
    expect(client.delete('/v1/nodes/web1').status).to eq(404)
  end

  it 'fails a list if a document cannot be read, unless the client asks for the errors' do
    { 'status/web2' => '{', 'inventory/web3' => '[]' }.each { |key, text| store.put("globals/estate/#{key}", text) }
    expect(client.get('/v1/nodes')).to have_attributes(status: 500, detail: include('inventory/web3'),
                                                       data: include('key' => 'globals/estate/inventory/web3'))
    expect(client.get('/v1/nodes?errors=return').data).to match(
      'nodes' => [include('name' => 'web1')],
      'errors' => { 'globals/estate/inventory/web3' => be_a(String), 'globals/estate/status/web2' => be_a(String) }
    )
    expect(client.get('/v1/nodes?errors=x')).to have_attributes(status: 400, detail: include("'errors' must be return"))
  end

  # The answer lacked them.
  it 'fails the exports of a node if those of a type cannot be read, or are missing' do
    Simpkv::Estate.new(options).exports.save('web1', { 'host' => [{ 'title' => 'a' }] }, 'production')
    store.put('globals/estate/exported/host/web1', '{')
    expect(client.get('/v1/nodes/web1/exports'))
      .to have_attributes(status: 500, detail: include('exported/host/web1'),
                          data: include('key' => 'globals/estate/exported/host/web1'))
    store.delete('globals/estate/exported/host/web1')
    expect(client.get('/v1/nodes/web1/exports')).to have_attributes(status: 500,
                                                                    detail: %r{exported/host/web1' is missing})
  end

  it 'has what can be read of a node, and why the rest cannot, if the client asks for the errors' do
    store.put('globals/estate/status/web2', '{')
    expect(client.get('/v1/nodes/web2')).to have_attributes(status: 500, detail: include('status/web2'),
                                                            data: include('key' => 'globals/estate/status/web2'))
    expect(client.get('/v1/nodes/web2?errors=return').data).to include(
      'status' => nil, 'never_run' => false, 'expired' => false, 'facts' => be_a(Hash),
      'errors' => { 'globals/estate/status/web2' => 'its document is corrupt (1 byte)' }
    )
    expect(client.get('/v1/nodes/web1?errors=return').data['errors']).to eq({})
    store.put('globals/estate/reports/web1/7', '{')
    expect(client.get('/v1/nodes/web1/reports').status).to eq(500)
    expect(client.get('/v1/nodes/web1/reports?errors=return').data)
      .to include('reports' => [], 'errors' => { 'globals/estate/reports/web1/7' => /its document is corrupt/ })
    expect(client.get('/v1/nodes/nosuch?errors=return').status).to eq(404)
  end
end

RSpec.describe 'The API of nodes' do
  include_context 'with a service'
  include_context 'with two nodes'

  context 'with rules that see secrets' do
    let(:options) { super().merge('estate' => { 'inspection_rules' => { 'mask_secrets' => 'never' } }) }

    it 'inspects a node with its stored facts, of which clients do not see the secrets' do
      conditions = [{ 'op' => 'eq', 'args' => ['{inventory[db_password]}', 'pl4nted-fact'] },
                    { 'op' => 'eq', 'args' => ['{inventory[trusted][certname]}', 'web1'] }]
      actions = [{ 'op' => 'set-attribute', 'args' => ['/scope', 'db'] }]
      client.post('/v1/inspection_rules', 'conditions' => conditions, 'actions' => actions)
      inspected = client.request('POST', '/v1/nodes/web1/inspection?dry_run=true&stored=true')
      expect(inspected.data['rules']).to match([include('matched' => true)])
      expect(inspected.body).not_to include('pl4nted')
      expect(client.get('/v1/nodes/web1/inspection').status).to eq(404)
      expect(client.request('POST', '/v1/nodes/web2/inspection?stored=true'))
        .to have_attributes(status: 404, detail: "'web2' has no facts")
    end

    it 'shows no message of a rule, which may have a secret' do
      rules = { 'log' => ['{inventory[db_password]}', 'info'], 'fail' => ['no: {inventory[db_password]}'] }
      client.post('/v1/inspection_rules', 'actions' => rules.map { |op, args| { 'op' => op, 'args' => args } })
      answers = [client.post('/v1/nodes/new1/inspection', 'db_password' => 'pl4nted'),
                 client.get('/v1/nodes/new1/inspection'), client.get('/v1/nodes/new1')]
      expect(answers.map(&:body).join).not_to include('pl4nted')
      expect(answers.first.data).to include('failed' => include('msg' => '[redacted]'),
                                            'effects' => [include('msg' => '[redacted]')])
      expect(answers[1].data['failed']).to include('msg' => '[redacted]')
    end
  end
end
