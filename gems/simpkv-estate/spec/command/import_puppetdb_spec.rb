# frozen_string_literal: true

require 'simpkv/estate'
require_relative '../../../../spec/command/command_helper'
require_relative '../support/puppetdb_script'
require_relative '../../../../spec/support/slapd'

# gems/simpkv-server/spec/puppetdb/import_spec.rb imports from a real PuppetDB.
RSpec.describe 'simpkv import-puppetdb' do
  include_context 'with the command'

  let(:puppetdb) { PuppetDBScript.new }
  let(:estate) do
    site = YAML.safe_load(File.read(config))
    settings = site['backends']['default']
    Simpkv::Store.open('file', settings.slice('root_path')).close if settings['type'] == 'file'
    Simpkv::Estate.new(site)
  end
  let(:hosts) { [{ 'type' => 'Host', 'title' => 'web1', 'parameters' => { 'ip' => '192.0.2.1' } }] }

  before { simpkv!('init') }

  after { puppetdb.stop }

  def import(*arguments, **more)
    simpkv('import-puppetdb', puppetdb.uri, *arguments, **more)
  end

  # @return [Hash{String => Object}] the summary
  def import!(*arguments)
    outcome = import(*arguments, '-o', 'json')
    expect(outcome).to have_attributes(code: 0)
    JSON.parse(outcome.out)
  end

  # @return [Hash{String => String}] the documents of the estate
  def documents
    estate.store.tree('globals', required: false)[:keys]
  end

  it 'stores facts, exported resources and the last run of the nodes' do
    puppetdb.node('web1', facts: { 'kernel' => 'Linux', 'trusted' => { 'certname' => 'web1' } }, resources: hosts)
    puppetdb.node('web2', facts: { 'kernel' => 'Linux' })
    expect(import!).to include('PuppetDB' => "7.12.1 at #{puppetdb.uri}", 'nodes' => 2, 'stored' => 2, 'failed' => 0,
                               'sets of facts' => 2, 'exported resources' => 1)
    expect(estate.facts.find('web1')).to eq('values' => { 'kernel' => 'Linux' }, 'trusted' => { 'certname' => 'web1' },
                                            'timestamp' => '2026-11-20T10:00:00Z', 'producer' => 'puppet1',
                                            'producer_timestamp' => '2026-11-20T10:00:00.123Z')
    expect(estate.exports.all('host').keys).to eq(['web1'])
    expect(estate.statuses.get('web2')).to include('last_seen' => '2026-11-20T10:00:00Z', 'status' => 'changed')
    expect(estate.inventory.get('web2')).to include('environment' => 'production')
  end

  it 'stores a status that a report of an older run does not replace' do
    puppetdb.node('web1', facts: { 'kernel' => 'Linux' })
    import!
    estate.reports.save('web1', { 'status' => 'failed', 'producer_timestamp' => '2026-11-20T09:00:00.000Z' })
    expect(estate.statuses.get('web1')).to include('status' => 'changed', 'last_seen' => '2026-11-20T10:00:00Z')
  end

  it 'stores packages as the fact of an agent that tells them, from a PuppetDB that has some' do
    package = { 'package_name' => 'rake', 'version' => '13', 'provider' => 'gem' }
    packages = [package, package.merge('package_name' => 'bash', 'provider' => 'apt')]
    puppetdb.node('web1', facts: { 'kernel' => 'Linux' }, packages: packages)
    import!
    expect(estate.facts.find('web1')['values'])
      .to eq('kernel' => 'Linux', '_puppet_inventory_1' => { 'packages' => [%w[bash 13 apt], %w[rake 13 gem]] })
    puppetdb.fail_at(puppetdb.requests.length + 6) { |client| puppetdb.answer(client, 404, '') }
    expect(import!).to include('stored' => 1)
    expect(estate.facts.find('web1')['values']).to eq('kernel' => 'Linux')
  end

  it 'writes nothing if it runs again' do
    puppetdb.node('web1', facts: { 'kernel' => 'Linux' }, resources: hosts)
    import!
    before = documents
    expect(import!).to include('stored' => 0, 'unchanged' => 1, 'documents stored' => 0)
    expect(documents).to eq(before)
  end

  describe 'with reports' do
    let(:event) do
      { 'resource_type' => 'User', 'resource_title' => 'felix', 'property' => 'password', 'status' => 'success',
        'timestamp' => '2026-11-20T09:00:01.123Z', 'old_value' => 'pl4nted', 'new_value' => 'pl4nted', 'line' => 3,
        'message' => 'changed', 'name' => 'password_changed', 'containment_path' => ['Stage[main]'] }
    end

    # @return [Hash] a row of PuppetDB
    def report(hour, **more)
      log = { 'level' => 'notice', 'message' => "run of #{hour}", 'source' => 'Puppet', 'tags' => ['notice'],
              'time' => "2026-11-20T#{hour}:00:02.000Z", 'file' => nil, 'line' => nil }
      time = "2026-11-20T#{hour}:00:00.123Z"
      metric = { 'category' => 'time', 'name' => 'total', 'value' => 1.23456 }
      { 'status' => 'changed', 'environment' => 'production', 'noop' => false, 'receive_time' => time,
        'start_time' => time, 'end_time' => time, 'producer_timestamp' => time, 'producer' => 'puppet1',
        'catalog_uuid' => 'c1', 'report_format' => 12, 'logs' => { 'data' => [log], 'href' => 'x' },
        'metrics' => { 'data' => [metric] }, 'resource_events' => { 'data' => [event] } }.merge(more)
    end

    def stored
      estate.reports.with_details('web1', estate.reports.all('web1'))
    end

    it 'stores them whole, without secrets, and once' do
      puppetdb.node('web1', reports: [report('10'), report('09')])
      expect(import!).to include('reports' => 2, 'stored' => 1)
      expect(stored.map { |each| each.values_at('run', 'received') })
        .to eq([[2, '2026-11-20T10:00:00Z'], [1, '2026-11-20T09:00:00Z']])
      expect(stored.first).to include(
        'time' => '2026-11-20T10:00:00.123Z', 'producer' => 'puppet1', 'catalog_uuid' => 'c1',
        'producer_timestamp' => '2026-11-20T10:00:00.123Z', 'times' => { 'total' => 1.23456 },
        'logs' => [include('message' => 'run of 10', 'time' => '2026-11-20T10:00:02Z')],
        'events' => [include('resource' => 'User[felix]', 'time' => '2026-11-20T09:00:01.123Z',
                             'name' => 'password_changed', 'message' => '[redacted]')],
        'values' => [{ 'old' => '[redacted]', 'new' => '[redacted]' }]
      )
      before = documents
      expect(import!).to include('unchanged' => 1, 'documents stored' => 0)
      expect(documents).to eq(before)
      puppetdb.node('web1', reports: [report('11'), report('10'), report('09')])
      import!
      expect(stored.map { |each| each['run'] }).to eq([3, 2, 1])
      expect(estate.statuses.get('web1')).to include('runs' => 3)
    end

    it 'names a node with a report that is none' do
      puppetdb.node('web1', reports: [report('10', 'logs' => { 'data' => ['pl4nted'] })])
      outcome = import
      expect([outcome.code, outcome.err]).to match([65, /'web1': PuppetDB has a report that is none/])
      expect(outcome.err).not_to include('pl4nted')
    end
  end

  it 'replaces what has changed in PuppetDB' do
    puppetdb.node('web1', facts: { 'kernel' => 'Linux' }, resources: hosts)
    import!
    puppetdb.node('web1', facts: { 'kernel' => 'Linux' }, resources: [])
    expect(import!).to include('stored' => 1)
    expect(estate.exports.all('host')).to be_empty
  end

  it 'keeps what a node has stored in a run since' do
    puppetdb.node('web1', facts: { 'kernel' => 'Linux' }, resources: hosts)
    estate.exports.save('web1', { 'host' => [{ 'title' => 'newer' }] }, 'production')
    estate.statuses.put('web1', 'last_seen' => '2026-11-21T00:00:00Z')
    expect(import!).to include('newer in the store' => 1, 'stored' => 0)
    expect(estate.exports.of('web1')).to eq('host' => [{ 'title' => 'newer' }])
  end

  # The import read the statuses of all nodes at first, and stored what was older than these runs.
  it 'keeps what a node stores in a run that ends during the import' do
    puppetdb.node('web1', facts: { 'kernel' => 'Linux' })
    puppetdb.fail_at(5) do |client|
      estate.exports.save('web1', { 'host' => [{ 'title' => 'newer' }] }, 'production')
      estate.statuses.put('web1', 'last_seen' => '2026-11-21T00:00:00Z')
      puppetdb.answer(client, 200, '[]') # There is no exported resource in PuppetDB.
    end
    expect(import!).to include('newer in the store' => 1, 'stored' => 0)
    expect(estate.exports.of('web1')).to eq('host' => [{ 'title' => 'newer' }])
  end

  # The import looked at the status only, which comes with the report of a run.
  context 'with a run whose report has not arrived yet' do
    before { puppetdb.node('web1', facts: { 'kernel' => 'Linux' }, resources: hosts) }

    def run_without_report
      estate.facts.save('web1', { 'kernel' => 'Linux' })
      estate.exports.save('web1', { 'host' => [{ 'title' => 'newer' }] }, 'production')
    end

    it 'keeps what the node has stored' do
      run_without_report
      expect(import!).to include('newer in the store' => 1, 'stored' => 0)
      expect(estate.exports.of('web1')).to eq('host' => [{ 'title' => 'newer' }])
    end

    it 'keeps what the node has stored since an import' do
      import!
      run_without_report
      expect(import!).to include('newer in the store' => 1, 'stored' => 0)
      expect(estate.exports.of('web1')).to eq('host' => [{ 'title' => 'newer' }])
    end

    it 'stores the exports of a node that has stored facts only' do
      estate.facts.save('web1', { 'kernel' => 'Linux' })
      expect(import!).to include('stored' => 1)
      expect(estate.exports.all('host').keys).to eq(%w[web1])
    end

    it 'replaces what an older run has stored whose report has arrived' do
      run_without_report
      estate.statuses.put('web1', 'last_seen' => '2026-11-19T00:00:00Z', 'runs' => 7)
      expect(import!).to include('stored' => 1)
      expect(estate.exports.of('web1')['host'].first['title']).to eq('web1')
      expect(estate.statuses.get('web1')).to include('last_seen' => '2026-11-20T10:00:00Z', 'runs' => 7)
    end
  end

  it 'continues imports that died before they stored exports' do
    exports = -> { estate.exports.of('web1').fetch('host', []).map { |host| host['title'] } }
    %w[web1 web2].each do |title|
      puppetdb.node('web1', facts: { 'kernel' => 'Linux' }, resources: [hosts.first.merge('title' => title)])
      allow_any_instance_of(Simpkv::Estate::Exports).to receive(:save).and_raise(Simpkv::UnavailableError, 'down')
      expect(import).to have_attributes(code: 69, err: /down/)
      expect(exports.call).not_to include(title)
      allow_any_instance_of(Simpkv::Estate::Exports).to receive(:save).and_call_original
      expect(import!).to include('stored' => 1)
      expect(exports.call).to eq([title])
      expect(import!).to include('stored' => 0, 'unchanged' => 1)
    end
  end

  it 'stores nothing with --dry-run, and counts the same' do
    puppetdb.node('web1', facts: { 'kernel' => 'Linux' }, resources: hosts)
    expect(import!('--dry-run')).to include('to store' => 1, 'documents to store' => 4)
    expect(estate.inventory.all).to eq({})
    expect(import!).to include('stored' => 1, 'documents stored' => 4)
    expect(import!('-n')).to include('to store' => 0, 'unchanged' => 1)
  end

  it 'leaves out the facts of the option facts_blocklist' do
    puppetdb.node('web1', facts: { 'kernel' => 'Linux', 'uptime' => '1 day' })
    import!
    expect(estate.facts.find('web1')['values']).to eq('kernel' => 'Linux')
  end

  it 'asks for 50 nodes at a time' do
    101.times { |number| puppetdb.node("n#{number}", facts: { 'kernel' => 'Linux' }) }
    expect(import!).to include('nodes' => 101)
    expect(puppetdb.requests.length).to eq(2 + (3 * 4))
  end

  # It stored one node after the other, and waited for the store most of the time.
  it 'stores several nodes at once' do
    3.times { |number| puppetdb.node("n#{number}", resources: hosts) }
    begun = Queue.new
    all_begun = Queue.new
    allow_any_instance_of(Simpkv::Estate::Exports).to receive(:save).and_wrap_original do |save, *arguments|
      begun << true
      all_begun.close if begun.length == 3
      Timeout.timeout(60) { all_begun.pop }
      save.call(*arguments)
    end
    expect(import!('--jobs', '3')).to include('stored' => 3)
    expect(estate.exports.all('host').keys).to contain_exactly('n0', 'n1', 'n2')
  end

  it 'accepts a PuppetDB without nodes' do
    expect(import!).to include('nodes' => 0, 'stored' => 0)
  end

  it 'stores the data in a directory' do
    puppetdb.node('web1', facts: { 'kernel' => 'Linux' }, resources: hosts)
    Slapd.run do |server|
      backends['default'] = { 'type' => 'ldap' }.merge(server.options)
      simpkv!('init', '--only', 'estate')
      expect(import!).to include('stored' => 1)
      expect(estate.exports.all('host').keys).to eq(['web1'])
      expect(import!).to include('stored' => 0)
    end
  end

  context 'when a request fails half-way' do
    before { 60.times { |number| puppetdb.node(format('n%02d', number), facts: { 'kernel' => 'Linux' }) } }

    # The second batch begins with the sixth request.
    {
      'the server dies' => [69, /the connection failed/],
      'it answers 500' => [69, /it answers with the status 500/, 500, 'pl4nted-'],
      'it refuses the client' => [77, /it refuses this client/, 403, ''],
      'the JSON is truncated' => [65, /truncated/, 200, '[{"certname": "pl4nted-'],
      'the answer is no list' => [65, /not that of a PuppetDB/, 200, '{"pl4nted-": 1}'],
      'the connection ends in an answer' => [65, /truncated/, 200, '[{', 100]
    }.each do |title, (code, message, *answer)|
      it "names the request, and continues when it runs again, after #{title}" do
        puppetdb.fail_at(8) do |client|
          puppetdb.answer(client, *answer) if answer.any?
          client.close if answer.length != 2
        end
        outcome = import
        expect(outcome).to have_attributes(code: code, err: message)
        expect(outcome.err).to match(/the facts of 'n50' to 'n59'/).and include('50 nodes done before the error')
        expect(outcome.err).not_to include('pl4nted-')
        expect(import!).to include('stored' => 10, 'unchanged' => 50)
      end
    end
  end

  it 'names nodes and resources that cannot be stored, and stores the others' do
    puppetdb.node('Web1', facts: { 'kernel' => 'Linux' })
    puppetdb.node('a/b', facts: { 'kernel' => 'Linux' })
    puppetdb.node('web2', facts: { 'kernel' => 'Linux' }, resources: [{ 'type' => 'Host', 'title' => nil }])
    puppetdb.node('web3', facts: { 'kernel' => 'Linux' })
    puppetdb.node('web4', facts: { 'kernel' => 'Linux' }, more: { 'report_timestamp' => 'yesterday' })
    outcome = import
    expect(outcome.code).to eq(65)
    expect(outcome.err).to match(/'Web1': /).and match(%r{'a/b': })
    expect(outcome.err).to match(/'web2': .*'title'/).and match(/'web4': .*time/)
    expect(estate.facts.all.keys).to eq(['web3'])
  end

  it 'names nodes whose data have another form' do
    puppetdb.node('web1', facts: 'pl4nted-')
    puppetdb.node('web2', resources: [{ 'type' => 'Host', 'title' => 'x', 'parameters' => ['pl4nted-'] }])
    puppetdb.node('web3', more: { 'facts_timestamp' => 5 })
    outcome = import
    expect(outcome).to have_attributes(code: 65, err: /'web1': .*'name'.*'web2': .*'parameters'.*'web3': .*time/m)
    expect(outcome.err).not_to include('pl4nted-')
  end

  it 'replaces a status that cannot be read' do
    puppetdb.node('web1', facts: { 'kernel' => 'Linux' })
    ['no document', *[['a list'], { 'last_seen' => 'today' }].map { |v| Simpkv::Codec.encode(v) }].each do |document|
      estate.store.put('globals/estate/status/web1', document)
      import!
      expect(estate.statuses.get('web1')).to include('status' => 'changed')
    end
  end

  it 'refuses a URL of another machine without TLS' do
    expect(simpkv('import-puppetdb', 'http://puppetdb.example.com:8080'))
      .to have_attributes(code: 64, err: /http:.*use https/)
  end

  it 'refuses URLs and files that are wrong' do
    %w[puppetdb ftp://localhost http://me:pl4nted-@localhost https://h?x=1 http://% https://].each do |url|
      outcome = simpkv('import-puppetdb', url)
      expect(outcome).to have_attributes(code: 64, err: /URL/)
      expect(outcome.err).not_to include('pl4nted-')
    end
    expect(simpkv('import-puppetdb', 'https://localhost', '--cert', config)).to have_attributes(code: 64, err: /pair/)
    expect(simpkv('import-puppetdb', 'https://localhost', '--cert', config, '--key', config))
      .to have_attributes(code: 65, err: /needs a file in PEM/)
    expect(simpkv('import-puppetdb', 'https://localhost', '--cacert', 'missing')).to have_attributes(code: 66)
    expect(simpkv('import-puppetdb', 'http://localhost', '--cacert', config)).to have_attributes(code: 64)
  end

  it 'names the server that does not answer' do
    closed = TCPServer.open('127.0.0.1', 0) { |server| server.addr[1] }
    expect(simpkv('import-puppetdb', "http://127.0.0.1:#{closed}"))
      .to have_attributes(code: 69, err: /127.0.0.1:#{closed}: its version: the connection failed/)
  end

  it 'says when another server answers' do
    puppetdb.fail_at(1) { |client| puppetdb.answer(client, 404, '') }
    expect(import).to have_attributes(code: 66, err: /no PuppetDB/)
  end
end
