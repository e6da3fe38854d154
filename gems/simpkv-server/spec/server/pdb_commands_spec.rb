# frozen_string_literal: true

require 'digest/sha1'
require 'tempfile'
require 'zlib'
require 'simpkv/query'
require 'simpkv/server/archives/import'
require 'simpkv/server/commands/submission'
require_relative 'server_helper'
require_relative '../../../../spec/support/certificates'
require_relative '../../../../spec/support/wire_formats'
require_relative '../support/archives'

RSpec.describe 'The commands of the API of PuppetDB' do
  include WireFormats

  include_context 'with a service', '--bind', 'tcp://127.0.0.1:0', '--local-write'

  let(:estate_options) { {} }
  let(:options) do
    { 'backends' => backends, 'estate' => estate_options,
      'server' => { 'index' => "#{@root}.index" }.merge(section) }
  end
  let(:estate) { Simpkv::Estate.new(options) }
  let(:client) { service.client('tcp') }
  let(:versions) { { 'replace_facts' => 5, 'replace_catalog' => 9, 'store_report' => 8, 'deactivate_node' => 3 } }
  let(:types) { { 'Content-Type' => 'application/json; charset=utf-8' } }

  before { estate.make }

  # Submits a command as PuppetDB's terminus does.
  #
  # @param payload [Hash, String] the String is sent as it is
  # @param more [Hash] parameters that differ
  def submit(command, payload, more = {}, headers = {})
    body = payload.is_a?(String) ? payload : JSON.generate(payload)
    certname = payload['certname'] if payload.is_a?(Hash)
    parameters = { 'checksum' => Digest::SHA1.hexdigest(body), 'version' => versions[command], 'certname' => certname,
                   'command' => command, 'producer-timestamp' => Time.now.utc.iso8601(3) }.merge(more).compact
    client.post("/pdb/cmd/v1?#{URI.encode_www_form(parameters)}", body, types.merge(headers))
  end

  def submit!(*arguments)
    response = submit(*arguments)
    expect(response).to have_attributes(status: 200)
    response.data
  end

  # @return [String] what is wrong
  def refused(response, status = 400)
    expect(response).to have_attributes(status: status, headers: include('content-type' => 'application/json'))
    response.data.fetch('error')
  end

  def host(title, parameters = {}, members = {})
    resource('Site::Host', title, parameters, { 'exported' => true }.merge(members))
  end

  # A client saw its command in the index about a second later.
  it 'answers a query that waits for a command from what the command has stored' do
    ask = lambda do |uuid|
      query = { 'query' => 'facts[value] { certname = "web1" and name = "number" }', 'wait_for' => uuid }
      client.get("/pdb/query/v4?#{URI.encode_www_form(query)}")
    end
    rows = ->(uuid) { ask[uuid].data }
    stored = lambda do |number|
      submit!('replace_facts', facts_payload('web1', 'number' => number)).fetch('uuid')
    end
    expect(Array.new(3) { |number| rows[stored[number]] }).to eq(Array.new(3) { |number| [{ 'value' => number }] })
    # As after a restart, or of another service.
    stored[3]
    expect(rows[SecureRandom.uuid]).to eq [{ 'value' => 3 }]
    expect(rows[submit!('deactivate_node', { 'certname' => 'web1' })['uuid']]).to eq []
    expect(ask['web1']).to have_attributes(status: 400, body: 'wait_for: it must be the uuid of a command')
  end

  it 'answers with the environment of a node that has sent facts only' do
    uuid = submit!('replace_facts', facts_payload('web1', 'kernel' => 'Linux').merge('environment' => 'dev'))['uuid']
    answers = ['facts[environment] {}', 'nodes[facts_environment] {}', 'environments {}'].map do |query|
      client.get("/pdb/query/v4?#{URI.encode_www_form('query' => query, 'wait_for' => uuid)}").data
    end
    expect(answers.map { |rows| rows.map(&:values) }).to eq([[['dev']]] * 3)
  end

  it 'knows the node of a command that has all in the body' do
    text = JSON.generate('command' => 'replace facts', 'version' => 5, 'payload' => facts_payload('web1', {}))
    submission = Simpkv::Server::Commands::Submission.new({})
    submission.command(text)
    expect(submission.certname).to eq('web1')
  end

  shared_examples 'a store of commands' do
    it 'stores facts, trusted facts, exports, a report and the status of a node' do
      packages = [%w[bash 5.2 apt], %w[rake 13 gem]]
      submit!('replace_facts', facts_payload('web1', 'kernel' => 'Linux', 'trusted' => { 'certname' => 'web1' })
                               .merge('package_inventory' => packages))
      nested = { 'a' => [1, { '__ptype' => 'Sensitive', '__pvalue' => 'pl4nted' }] }
      resource = host('www', { 'ip' => '192.0.2.1', 'login' => 'pl4nted', 'nested' => nested },
                      'tags' => %w[b a], 'sensitive_parameters' => %w[login])
      submit!('replace_catalog', catalog_payload('web1', [resource]))
      submit!('store_report', report_payload('web1', {}))
      expect(estate.facts.find('web1'))
        .to include('values' => { 'kernel' => 'Linux', '_puppet_inventory_1' => { 'packages' => packages } },
                    'trusted' => { 'certname' => 'web1' })
      expect(estate.exports.of('web1'))
        .to eq('site::host' => [{ 'title' => 'www', 'parameters' => { 'ip' => '192.0.2.1' }, 'tags' => %w[a b],
                                  'file' => '/etc/puppet/code/site.pp', 'line' => 3 }])
      expect(estate.statuses.get('web1')).to include('environment' => 'production', 'status' => 'changed', 'runs' => 1)
      expect(estate.reports.all('web1'))
        .to match([include('host' => 'web1', 'status' => 'changed', 'changes' => 1, 'times' => { 'total' => 1.5 },
                           'events' => [include('resource' => 'File[/etc/motd]', 'message' => 'content changed')])])
      rows = []
      eventually(errors: RuntimeError) do
        rows = client.get('/pdb/query/v4/resources').data
        rows.any?
      end
      expect(rows).to match([include('type' => 'Site::Host', 'title' => 'www', 'exported' => true)])
      found = client.get('/pdb/query/v4/package-inventory/web1').data
      expect(found.map { |row| row.values_at('package_name', 'version', 'provider') }).to match_array(packages)
      expect(client.get('/pdb/query/v4/facts').data.map { |row| row['name'] }).to contain_exactly('kernel', 'trusted')
    end

    # The command failed at the exports, after it had stored the rest.
    it 'stores nothing of a catalog with a type or a value that cannot be stored' do
      nested = Array.new(60).reduce(1) { |value, _| { '__ptype' => value } }
      [host('www', 'value' => nested), host('www', {}, 'type' => "F#{'a' * 255}")].each do |exported|
        response = submit('replace_catalog', catalog_payload('web1', [resource('Notify', 'n'), exported]))
        expect(response).to have_attributes(status: 400).or have_attributes(status: 413)
        expect([estate.inventory, estate.statuses, estate.catalogs].flat_map(&:names)).to be_empty
      end
      submit!('replace_catalog', catalog_payload('web1', [host('www')]))
    end

    it 'removes what a node exports no more, and all exports of a node that is deactivated' do
      submit!('replace_catalog', catalog_payload('web1', [host('www')]))
      submit!('replace_catalog', catalog_payload('web1', [resource('Notify', 'a')]))
      expect(estate.exports.of('web1')).to eq({})
      submit!('replace_catalog', catalog_payload('web1', [host('www')]))
      submit!('deactivate_node', 'certname' => 'web1', 'producer_timestamp' => Time.now.utc.iso8601(3))
      expect(estate.exports.of('web1')).to eq({})
      expect(estate.inventory.current).to be_empty
    end
  end

  it_behaves_like 'a store of commands'

  Directories.each_server do |server, tags|
    context "with a directory, #{server}", **tags do
      include_context 'with a directory', server
      let(:backends) { { 'default' => directory.options('type' => 'ldap', 'id' => id) } }
      let(:store) { open_store }

      it_behaves_like 'a store of commands'

      it 'stores nothing of a catalog with a type that has no room in the directory' do
        long = host('www', {}, 'type' => "F#{'a' * 237}")
        expect(submit('replace_catalog', catalog_payload('web1', [long]))).to have_attributes(status: 413)
        expect([*estate.inventory.names, *estate.statuses.names, *estate.exports.types]).to be_empty
      end

      it 'says when to send a command again that the directory could not take' do
        submit!('replace_facts', facts_payload('web1', 'kernel' => 'Linux'))
        directory.stop_serving
        response = submit('replace_facts', facts_payload('web1', 'kernel' => 'Hurd'))
        expect(response).to have_attributes(status: 503, headers: include('retry-after' => '5'))
      ensure
        directory.launch
      end
    end
  end

  it 'answers with a UUID, and with waiting that the command is done' do
    facts = facts_payload('web1', 'kernel' => 'Linux')
    expect(submit!('replace_facts', facts)).to match('uuid' => /\A\h{8}-\h{4}-\h{4}-\h{4}-\h{12}\z/)
    expect(submit!('replace_facts', facts, 'secondsToWaitForCompletion' => 5))
      .to match('uuid' => a_kind_of(String), 'processed' => true, 'timed_out' => false)
    id = submit!('replace_facts', facts)['uuid']
    # The response does not wait for the log.
    eventually(errors: RuntimeError) { service.log.match?(%r{ #{id} local POST /pdb/cmd/v1 200 }) }
  end

  # pypuppetdb sends the one of a text of Python, and all its commands were refused.
  context 'with --debug' do
    let(:service) { @service = Service.new(options, *%w[--bind tcp://127.0.0.1:0 --local-write --debug]).tap(&:start) }

    it 'takes any checksum, and logs one that is of nothing that it knows' do
      facts = facts_payload('web1', 'kernel' => 'pl4nted')
      whole = { 'command' => 'replace facts', 'version' => 5, 'payload' => facts, 'checksum' => '0' * 40 }
      [Digest::SHA1.hexdigest("{'kernel': 'pl4nted'}"), Digest::SHA1.hexdigest(JSON.generate(facts))].each do |sum|
        submit!('replace_facts', facts, 'checksum' => sum)
      end
      expect(client.post('/pdb/cmd/v1', whole, types).status).to eq(200)
      log = []
      eventually(errors: RuntimeError) { (log = service.log.lines.grep(/pdb.cmd|checksum/)).length > 3 }
      expect(log.grep(/checksum/)).to match([/ local the checksum of a command is not that of its body$/])
      expect(log.join).not_to include('pl4nted')
    end

    it 'logs what changes nothing, because something newer is stored' do
      old = Time.now - 60
      [Time.now, old].each do |time|
        submit!('replace_facts', facts_payload('web1', { 'kernel' => time.to_s }, time))
        submit!('replace_catalog', catalog_payload('web1', [], at: time))
      end
      submit!('deactivate_node', 'certname' => 'web1', 'producer_timestamp' => old.utc.iso8601(3))
      eventually(errors: RuntimeError) { service.log.scan(" a command about 'web1' changes nothing: so").length == 3 }
    end
  end

  it 'takes names with spaces, compressed bodies, and all in the body' do
    facts = JSON.generate(facts_payload('web1', 'kernel' => 'Linux'))
    submit!('replace facts', facts, { 'version' => 5, 'certname' => 'web1' })
    parameters = { 'version' => 5, 'certname' => 'web2', 'checksum' => nil }
    compressed = Zlib.gzip(facts.sub('web1', 'web2'))
    submit!('replace facts', compressed, parameters, 'Content-Encoding' => 'gzip')
    whole = { 'command' => 'replace facts', 'version' => 5, 'payload' => facts_payload('web3', 'kernel' => 'Linux') }
    expect(client.post('/pdb/cmd/v1', whole, types).status).to eq(200)
    expect(estate.inventory.names).to contain_exactly('web1', 'web2', 'web3')
  end

  it 'ignores facts, catalogs and deactivations that are older than what is stored' do
    old = Time.now - 60
    submit!('replace_facts', facts_payload('web1', 'kernel' => 'Linux'))
    submit!('replace_facts', facts_payload('web1', { 'kernel' => 'Hurd' }, old))
    expect(estate.facts.find('web1')['values']).to eq('kernel' => 'Linux')
    submit!('replace_catalog', catalog_payload('web1', [host('new')]))
    # Between two runs with the same facts.
    submit!('replace_facts', facts_payload('web2', { 'kernel' => 'Linux' }, old))
    submit!('replace_catalog', catalog_payload('web2', []))
    submit!('replace_facts', facts_payload('web2', { 'kernel' => 'Hurd' }, old + 30))
    expect(estate.facts.find('web2')['values']).to eq('kernel' => 'Linux')
    submit!('store_report', report_payload('web1'))
    submit!('replace_catalog', catalog_payload('web1', [host('old')], at: old))
    submit!('deactivate_node', 'certname' => 'web1', 'producer_timestamp' => old.utc.iso8601(3))
    expect(estate.exports.of('web1')['site::host']).to match([include('title' => 'new')])
    expect(estate.statuses.get('web1')).to include('runs' => 1)
  end

  # Only a node with a catalog stayed.
  it 'deactivates no node that has sent facts or a report since, or has exported something' do
    time = (Time.now - 60).utc.iso8601(3)
    submit!('replace_facts', facts_payload('web1', 'kernel' => 'Linux'))
    submit!('store_report', report_payload('web2'))
    estate.exports.save('web3', {}, 'production')
    %w[web1 web2 web3].each { |name| submit!('deactivate_node', 'certname' => name, 'producer_timestamp' => time) }
    expect(estate.inventory.all.reject { |_, record| record.key?('deactivated') }.keys).to match_array(%w[web1 web3])
    expect(estate.inventory.get('web2')).to be_nil
    submit!('deactivate_node', 'certname' => 'web1', 'producer_timestamp' => Time.now.utc.iso8601(3))
    expect(estate.inventory.current.keys).to eq(%w[web3])
  end

  # @return [Array] the names of the nodes that queries find, when there are any
  def nodes(state)
    eventually(errors: RuntimeError) do
      rows = client.get("/pdb/query/v4/nodes?query=#{CGI.escape(%(["=","node_state","#{state}"]))}").data
      rows.map { |row| row['certname'] } if rows.any?
    end
  end

  # It removed the node at once, and what was sent before brought it back.
  it 'keeps a deactivated node, which only its next run brings back' do
    times = [60, 40, 50, 30].map { |seconds| Time.now - seconds }
    first, deactivated, late, second = times.zip(%w[Linux Linux Hurd Linux]).map do |time, kernel|
      [facts_payload('web1', { 'kernel' => kernel }, time), catalog_payload('web1', [host(kernel)], at: time)]
    end
    run = ->((facts, catalog)) { [submit!('replace_facts', facts), submit!('replace_catalog', catalog)] }
    run.call(first)
    submit!('deactivate_node', deactivated.last.slice('certname', 'producer_timestamp'))
    run.call(late)
    expect(nodes('inactive')).to eq(%w[web1])
    expect([estate.exports.of('web1'), estate.facts.find('web1')['values']]).to eq([{}, { 'kernel' => 'Linux' }])
    run.call(second)
    expect(nodes('active')).to eq(%w[web1])
    expect(estate.exports.of('web1').keys).to eq(%w[site::host])
  end

  it 'stores a report once that a client sends again' do
    first, second = Array.new(2) { report_payload('web1', {}) }
    [first, first, second, first, second].each { |report| submit!('store_report', report) }
    expect(estate.reports.all('web1').map { |report| report['transaction_uuid'] })
      .to eq([second, first].map { |report| report['transaction_uuid'] })
    expect(estate.statuses.get('web1')).to include('runs' => 2)
  end

  # A thread that serves one node twice remembered what the first command had read.
  it 'stores what others have changed meanwhile' do
    submit!('replace_facts', facts_payload('web1', 'kernel' => 'Linux'))
    submit!('replace_catalog', catalog_payload('web1', [host('a')]))
    submit!('replace_facts', facts_payload('web1', 'kernel' => 'Linux'))
    estate.exports.save('web1', {}, 'production')
    submit!('replace_catalog', catalog_payload('web1', [host('a')]))
    expect(estate.exports.of('web1').keys).to eq(%w[site::host])
  end

  context 'with catalogs' do
    let(:estate_options) { { 'catalogs' => true } }

    let(:sent) { { 'producer' => 'puppet1', 'producer_timestamp' => '2026-11-23T02:02:03.123456+01:00' } }
    let(:ids) { { 'transaction_uuid' => 't1', 'catalog_uuid' => 'c1', 'code_id' => 'code', 'job_id' => '7' } }

    # The senders were not stored.
    it 'stores who sent facts, reports and a catalog that Puppet can read, and queries answer from them' do
      submit!('replace_facts', facts_payload('web1', 'kernel' => 'Linux').merge(sent))
      submit!('store_report', report_payload('web1').merge(sent))
      motd = resource('File', '/etc/motd', { 'ensure' => 'file', 'require' => 'Notify[n]' }, 'tags' => %w[file])
      main = resource('Class', 'main', 'name' => 'main')
      edges = [edge(%w[Stage main], %w[Class main]), edge(%w[Class main], %w[File /etc/motd]),
               edge(%w[Class main], %w[Site::Host www]),
               edge(%w[Notify n], %w[File /etc/motd], relationship: 'required-by')]
      resources = [resource('Stage', 'main', 'name' => 'main'), main, motd, resource('Notify', 'n'), host('www')]
      submit!('replace_catalog', catalog_payload('web1', resources, edges).merge(sent, ids))
      data = estate.catalogs.get('web1')
      stored = sent.merge('producer_timestamp' => '2026-11-23T01:02:03.123456Z')
      expect([estate.facts.find('web1'), estate.reports.latest('web1'), data.slice(*ids.keys, *sent.keys)])
        .to match([include(stored), include(stored), stored.merge(ids)])
      expect(data['resources'].map { |each| each['type'] }).to eq(%w[Stage Class File Notify])
      expect(data['edges']).to eq([{ 'source' => 'Stage[main]', 'target' => 'Class[main]' },
                                   { 'source' => 'Class[main]', 'target' => 'File[/etc/motd]' }])
      # Edges to exported resources were missing.
      expect(relationships).to include(%w[Class[main] contains File[/etc/motd]],
                                       %w[Class[main] contains Site::Host[www]],
                                       %w[Notify[n] required-by File[/etc/motd]])
      expect(restored(data).resource('File[/etc/motd]')[:ensure]).to eq('file')
      expect(%w[factsets catalogs reports].map { |name| client.get("/pdb/query/v4/producers/puppet1/#{name}").data })
        .to match([[include(sent.slice('producer'))], [include(ids)], [include('receive_time' => a_kind_of(String))]])
      expect(client.get('/pdb/query/v4/producers').data).to eq([{ 'name' => 'puppet1' }])
    end

    def relationships
      rows = []
      eventually(errors: RuntimeError) do
        rows = client.get('/pdb/query/v4/edges').data
        rows.any?
      end
      rows.map do |row|
        ["#{row['source_type']}[#{row['source_title']}]", row['relationship'],
         "#{row['target_type']}[#{row['target_title']}]"]
      end
    end

    def restored(data)
      require 'puppet'
      Puppet::Resource::Catalog.from_data_hash(data)
    end
  end

  # Logs, values and skipped resources were left out, and times cut to seconds.
  it 'stores a report whole, failures first' do
    log = { 'message' => 'Applied', 'level' => 'notice', 'source' => 'Puppet', 'tags' => ['notice'],
            'time' => '2026-11-23T16:00:00.123456789+01:00' }
    more = { 'catalog_uuid' => 'c-1', 'code_id' => 'c0de', 'job_id' => '7', 'type' => 'plan', 'logs' => [log],
             'start_time' => '2026-11-23T15:00:00.25Z' }
    payload = report_payload('web1', {}, { 'status' => 'failure', 'name' => 'changed' }).merge(more)
    skipped = payload['resources'].first.merge('events' => [], 'skipped' => true, 'resource_title' => '/a')
    submit!('store_report', payload.merge('resources' => [skipped, *payload['resources']]))
    report = estate.reports.with_details('web1', estate.reports.all('web1')).first
    expect(report).to include('time' => '2026-11-23T15:00:00.25Z', 'end_time' => match(/Z\z/),
                              **more.slice('catalog_uuid', 'code_id', 'job_id', 'type'))
    expect(report['logs']).to eq([log.merge('time' => '2026-11-23T15:00:00.123456789Z')])
    expect(report['events'].map { |event| event.values_at('status', 'name') })
      .to eq([%w[failure changed], %w[success content_changed], ['skipped', nil]])
    expect(report['events'].map { |event| event['containment_path'] })
      .to eq([skipped['containment_path']] * 3)
    expect(report['values']).to eq([*[{ 'old' => '0ld', 'new' => 'n3w' }] * 2, nil])
  end

  # A report without metrics had 'changes total 0', which nobody had sent.
  it 'shows the metrics of a report, and no others' do
    list = [{ 'category' => 'changes', 'name' => 'total', 'value' => 0 },
            { 'category' => 'time', 'name' => 'total', 'value' => 1.5 },
            { 'category' => 'resources', 'name' => 'total', 'value' => 10**300 }]
    lists = [[], list.first(1), list[1..2], list]
    lists.each { |metrics| submit!('store_report', report_payload('web1', {}).merge('metrics' => metrics)) }
    rows = []
    eventually(errors: RuntimeError) do
      rows = client.get('/pdb/query/v4/reports').data
      rows.length == lists.length
    end
    expect(rows.map { |row| row['metrics']['data'].sort_by(&:to_s) })
      .to match_array(lists.map { |metrics| metrics.sort_by(&:to_s) })
  end

  describe 'the archive' do
    let(:estate_options) { { 'catalogs' => true } }
    let(:section) { { 'command_bytes' => 1_048_576 } }
    let(:long) { "#{'a' * 60}.#{'b' * 60}.example.com" }

    def import(archive)
      client.post('/pdb/admin/v1/archive', *Archives.upload(archive))
    end

    # Three nodes: one with all, one that only exports, and one with facts and a long name.
    def store_nodes
      submit!('replace_facts', facts_payload('web1', 'kernel' => 'Linux', 'trusted' => { 'certname' => 'web1' })
                               .merge('package_inventory' => [%w[bash 5.2 apt]]))
      motd = resource('File', '/etc/motd', { 'ensure' => 'file' }, 'tags' => %w[file])
      edges = [edge(%w[Class main], %w[File /etc/motd]), edge(%w[Class main], %w[Notify gone])]
      submit!('replace_catalog', catalog_payload('web1', [resource('Class', 'main'), motd, host('www')], edges))
      log = { 'level' => 'notice', 'message' => 'x' * 5000, 'source' => 'Puppet', 'tags' => ['notice'], 'file' => '/a',
              'line' => 3, 'time' => '2026-11-23T16:00:00.123Z' }
      submit!('store_report', report_payload('web1', { 'property' => 'mode' }).merge('logs' => [log]))
      host = { 'parameters' => { 'ip' => '192.0.2.2' }, 'tags' => %w[x] }
      estate.exports.save('web2', { 'site::host' => [host.merge('title' => 'db')] }, 'production')
      submit!('replace_facts', facts_payload(long, 'kernel' => 'Linux'))
    end

    def export
      eventually(errors: RuntimeError) { client.get('/pdb/query/v4/nodes').data.length == 3 }
      response = client.get('/pdb/admin/v1/archive')
      expect(response).to have_attributes(
        status: 200, headers: include('content-disposition' => /\Aattachment; filename=puppetdb-export-.*\.tgz\z/)
      )
      response.body
    end

    def stored
      { facts: %W[web1 #{long}].map { |name| estate.facts.find(name).to_h.slice('values', 'trusted') },
        exports: %w[web1 web2].map { |name| estate.exports.of(name) },
        catalog: estate.catalogs.get('web1').to_h.values_at('resources', 'edges').flatten.sort_by(&:to_s),
        reports: reports.map { |each| each.slice('status', 'transaction_uuid', 'changes', 'logs', 'values') } }
    end

    def reports
      estate.reports.with_details('web1', estate.reports.all('web1'))
    end

    it 'has all that queries see, and brings it back' do
      store_nodes
      before = stored
      archive = export
      files = Archives.files(archive)
      expect(files.keys.first).to eq('puppetdb-bak/export-metadata.json')
      expect(files.values.first['command_versions'])
        .to eq('replace_facts' => 5, 'replace_catalog' => 9, 'store_report' => 8)
      expect(files.keys.map(&:length).max).to be < 120
      catalog = files.find { |name, _| name.start_with?('puppetdb-bak/catalogs/web1-') }.last
      expect(catalog['edges'].map { |each| each['target']['title'] }).to eq(%w[/etc/motd])
      report = files.find { |name, _| name.start_with?('puppetdb-bak/reports/') }.last
      expect([report['logs'].length, report['resources'].first['events'].first['new_value']]).to eq([1, 'n3w'])
      # The length of a compressed secret would tell of it: redaction may have missed one.
      expect(client.get('/pdb/query/v4/reports', 'Accept-Encoding' => 'gzip'))
        .to have_attributes(headers: hash_excluding('content-encoding'), body: /xxx/)
      ['web1', 'web2', long].each { |certname| estate.remove(certname) }
      expect(stored).to match(hash_including(catalog: [nil, nil], reports: []))
      # The index has the nodes until it is refreshed.
      expect(import(archive).data)
        .to eq('ok' => true, 'commands' => { 'facts' => 2, 'catalogs' => 2, 'reports' => 1, 'ignored' => 0 })
      expect(stored).to eq(before)
    end

    # Two nodes whose compilers use the termini. Of one, only the exports are stored so far.
    def store_runs
      run = Time.now.utc - 3600
      store_facts('web2', run - 600)
      host = { 'title' => 'db', 'parameters' => { 'ip' => '192.0.2.2', 'password' => 'pl4nted' }, 'tags' => %w[x] }
      estate.exports.save('web2', { 'site::host' => [host], 'file' => [host.merge('title' => '/x')] }, 'production',
                          time: (run - 600).iso8601(6))
      store_catalog('web2', run) if estate_options['catalogs']
      3.times { |number| estate.reports.save('web2', run_report(run - (300 * number), number)) }
      estate.exports.save('web3', { 'site::host' => [host] }, 'production')
    end

    def store_facts(certname, time)
      estate.facts.save(certname, { 'db_password' => 'pl4nted', 'kernel' => 'Linux', '_puppet_inventory_1' =>
                                    { 'packages' => [%w[rake 13 gem], %w[bash 5.2 apt], %w[rake 13 gem]] } },
                        trusted: { 'certname' => certname }, timestamp: time.iso8601,
                        produced: Simpkv::Estate::Produced.members('compiler', time.iso8601(6)))
    end

    def store_catalog(certname, time)
      file = { 'type' => 'File', 'title' => '/b', 'parameters' => { 'content' => 'b', 'token' => 'pl4nted' } }
      estate.catalogs.put(certname, 'environment' => 'production', 'version' => 1, 'resources' => [file],
                                    **Simpkv::Estate::Produced.members('compiler', time.iso8601(6)))
    end

    # As Puppet sends it, with a log at its limit.
    def run_report(time, number)
      text = Simpkv::Estate::ReportSummary.time(time)
      events = [['/etc/a', 'success', 'mode'], ['/etc/b', 'failure', nil], ['/etc/a', 'success', 'owner']]
               .map do |title, status, property|
        { 'resource' => "File[#{title}]", 'status' => status, 'property' => property, 'time' => text,
          'message' => "db_password 'pl4nted' #{'x' * 12_000}", 'values' => { 'old' => 1, 'new' => 2 } }
      end
      members = { 'host' => 'web2', 'status' => 'changed', 'environment' => 'production', 'time' => text,
                  'configuration_version' => 1_790_000_000, 'puppet_version' => '8.10.0', 'report_format' => 12,
                  'noop' => false, 'transaction_uuid' => ("uuid-#{number}" if number.positive?),
                  **Simpkv::Estate::Produced.members('compiler', (time + 0.000789).iso8601(6)) }
      log = Array.new(5) { |line| { 'level' => 'notice', 'message' => line.to_s, 'tags' => [] } }
      Simpkv::Estate::WholeReport.new(members, { 'resources' => { 'changed' => 2 }, 'time' => { 'total' => 1.23456 } },
                                      events, log)
    end

    def documents
      store.tree('globals/estate')[:keys].reject { |name, _| name.start_with?('counters/') }
    end

    def rows_of(archive)
      Archives.files(archive).drop(1)
    end

    # Waits for the index.
    def await_rows(nodes, reports)
      eventually(errors: RuntimeError) do
        %w[nodes reports].map { |entity| client.get("/pdb/query/v4/#{entity}").data.length } == [nodes, reports]
      end
    end

    [true, false].each do |whole|
      context "with catalogs: #{whole}" do
        let(:estate_options) { { 'catalogs' => whole, 'reports' => 10, 'report_log_lines' => 2 } }

        before do
          submit!('replace_facts', facts_payload('web1', 'kernel' => 'Linux', 'secret' => 'pl4nted'))
          motd = resource('File', '/etc/motd', { 'ensure' => 'file', 'require' => 'Class[main]' }, 'tags' => %w[b a])
          submit!('replace_catalog', catalog_payload('web1', [resource('Class', 'main'), motd, host('z'), host('a')],
                                                     [edge(%w[Class main], %w[File /etc/motd])]))
          2.times { submit!('store_report', report_payload('web1', {})) }
          store_runs
          await_rows(3, 5)
        end

        # Reports were stored twice and replaced others; facts, catalogs and exports lost their secrets.
        it 'changes nothing in the service that it comes from' do
          archive = client.get('/pdb/admin/v1/archive').body
          before = documents
          2.times { expect(import(archive)).to have_attributes(status: 200) }
          expect(documents).to eq(before)
          estate.deactivate('web2')
          estate.exports.save('web1', {}, 'production')
          before = documents
          expect(import(archive)).to have_attributes(status: 200)
          expect(documents).to eq(before)
        end

        it 'completes an import that has died before it stored the exports of a catalog' do
          archive = client.get('/pdb/admin/v1/archive').body
          exports = estate.exports.of('web1')
          estate.remove('web1')
          import(archive)
          estate.exports.save('web1', {}, 'production', time: '2026-01-01T00:00:00Z')
          import(archive)
          expect(estate.exports.of('web1')).to eq(exports)
        end

        it 'is the same again after an import into another service' do
          archive = client.get('/pdb/admin/v1/archive').body
          %w[web1 web2 web3].each { |certname| estate.remove(certname) }
          await_rows(0, 0)
          import(archive)
          await_rows(3, 5)
          expect(rows_of(client.get('/pdb/admin/v1/archive').body)).to eq(rows_of(archive))
        end
      end
    end

    # Lines of a key and of a quoted value were left in reports, and so in the index.
    it 'has no secret of several lines, and nor have the store and the index' do
      key = "-----BEGIN RSA PRIVATE KEY-----\ns3cret\n-----END RSA PRIVATE KEY-----"
      texts = [key, "private_key: #{key}", "content changed 'api_key=abc' to 'api_key=def\ns3cret'"]
      logs = texts.map { |text| { 'level' => 'notice', 'message' => text, 'source' => 'Puppet', 'tags' => [] } }
      events = texts.map { |text| { 'property' => 'content', 'message' => text, 'old_value' => text } }
      submit!('store_report', report_payload('web1', *events).merge('logs' => logs))
      eventually { client.get('/pdb/query/v4/events').data.length == 3 }
      shown = [reports.to_s, client.get('/pdb/query/v4/events').body, client.get('/pdb/query/v4/reports').body]
      archive = client.get('/pdb/admin/v1/archive').body
      [*shown, Archives.files(archive).to_s].each { |text| expect(text).to match(/\A(?!.*s3cret).*redacted/m) }
      estate.remove('web1')
      expect(import(archive).data).to include('ok' => true)
      expect(reports.to_s).to match(/\A(?!.*s3cret).*redacted/m)
    end

    it 'is refused if it is none, and the file that is wrong is named' do
      metadata = { 'puppetdb-bak/metadata.json' => { 'command_versions' => { 'replace_facts' => 5 } } }
      facts = facts_payload('web1', 'kernel' => 'Linux')
      whole = Archives.make(**metadata, 'puppetdb-bak/catalog_inputs/a.json' => {}, 'x/facts/web1.json' => facts)
      { whole.byteslice(0, 40) => 'archive: it must be a tar.gz, whole', 'x' => 'archive: it must be a tar.gz, whole',
        Archives.make('puppetdb-bak/facts/a.json' => facts) => /archive: its first file must be .*metadata.json/,
        Archives.make(**metadata, 'a/facts/a.json' => '{"pl4nted') => %r{a/facts/a.json: the body cannot be read},
        Archives.make(**metadata, 'a/facts/a.json' => { 'certname' => 1 }) => %r{a/facts/a.json: certname: it must},
        Archives.make(**metadata, 'a/reports/a.json' => {}) => %r{a/reports/a.json: .*'store_report' in version 8} }
        .each { |archive, text| expect(import(archive)).to have_attributes(status: 400, body: match(text)) }
      expect(client.post('/pdb/admin/v1/archive', whole, types)).to have_attributes(status: 400, body: /must be a file/)
      expect(client.get('/pdb/admin/v1/archive?anonymization_profile=full')).to have_attributes(status: 400)
      expect(estate.inventory.names).to be_empty
      expect(import(whole).data['commands']).to include('facts' => 1, 'ignored' => 1)
      expect(service.log).not_to include('pl4nted')
    end

    it 'is refused if it is damaged behind its last command, unpacks to too much, or another one is being read' do
      files = { 'a/metadata.json' => { 'command_versions' => { 'replace_facts' => 5 } } }
      whole = Archives.make(files)
      damaged = [whole.dup.tap { |bytes| bytes.setbyte(-6, bytes.getbyte(-6) ^ 1) }, whole[0..-2], whole + whole,
                 "#{whole}\0"]
      damaged.each { |archive| expect(import(archive)).to have_attributes(status: 400, body: /a tar.gz, whole/) }
      bomb = Archives.make(**files, 'a/catalog_inputs/a.json' => "\0" * 8_000_000)
      expect(import(bomb)).to have_attributes(status: 413, body: /more than 100 times its size and 'command_bytes'/)
      whole = Archives.make(**files, 'a/facts/a.json' => facts_payload('web1', 'kernel' => 'Linux'))
      submit!('replace_facts', facts_payload('web1', 'kernel' => 'Linux'))
      both = File.open(File.join(@root, 'globals/estate/inventory/web1')) do |document|
        document.flock(File::LOCK_EX) # The store waits for it.
        Array.new(2) { Thread.new { import(whole) } }.tap { |reading| eventually { reading.one?(&:alive?) } }
      end
      expect(both.map { |reading| [reading.value.status, reading.value.body] })
        .to contain_exactly([200, /"facts":1/], [503, /another archive is being written or read/])
    end

    it 'leaves no file of a form behind' do
      body, headers = Archives.upload(Archives.make({}))
      more = body.sub("\r\n--B--\r\n".b, "\r\n#{body.sub('"archive"', '"other"')}")
      [more, more[0..-8]].each do |each|
        expect(client.post('/pdb/admin/v1/archive', each, headers).status).to eq(400)
        descriptors = Dir["/proc/#{service.pid}/fd/*"].select { |path| File.symlink?(path) }
        expect(descriptors.map { |path| File.readlink(path) }.grep(/RackMultipart|archive/)).to eq([])
      end
    end

    it 'tells an error of the store as such, and not as one of the archive' do
      file = Tempfile.create('archive', @root)
      file.write(Archives.make('a/metadata.json' => { 'command_versions' => { 'replace_facts' => 5 } },
                               'a/facts/a.json' => facts_payload('web1', {})))
      file.rewind
      import = Simpkv::Server::Archives::Import.new(1000)
      expect { import.read(file) { raise ArgumentError, 'x' } }.to raise_error(ArgumentError, 'x')
    ensure
      file&.close
    end

    it 'tells the numbers that PuppetDB has for administrators' do
      store_nodes
      export
      stats = client.get('/pdb/admin/v1/summary-stats').data
      nodes = [{ 'active' => false, 'count' => 0 }, { 'active' => true, 'count' => 3 }]
      expect(stats).to include('node_activity' => nodes,
                               'fact_path_counts_by_depth' => [{ 'depth' => 0, 'count' => 1 },
                                                               { 'depth' => 1, 'count' => 1 }],
                               'num_distinct_edges_source_target' => [{ 'count' => 1 }], 'table_usage' => [])
      expect(stats['num_resources_per_node'].first['quantiles'].values_at(0, 10, 20)).to eq([1.0, 2.0, 3.0])
    end
  end

  describe 'what it refuses:' do
    let(:facts) { facts_payload('web1', 'kernel' => 'Linux') }

    after { expect(estate.inventory.names).to be_empty }

    it 'other commands and versions, and says what it takes' do
      taken = "this service takes 'replace facts' in version 5, 'replace catalog' in version 9, " \
              "'store report' in version 8, 'deactivate node' in version 3"
      expect(refused(submit('replace_facts', facts, 'version' => 4))).to include(taken)
      expect(refused(submit('configure_expiration', facts, 'version' => 1))).to include(taken)
      whole = { 'command' => 'replace facts', 'version' => 4, 'payload' => facts }
      expect(refused(client.post('/pdb/cmd/v1', whole, types))).to include(taken)
      expect(refused(client.post('/pdb/cmd/v1', {}, types))).to eq('command: it must be a text')
    end

    # The documents had a year of five digits, and the index of all nodes stopped: no reader took them.
    it 'times that are not between the years 0 and 9999 in UTC' do
      ['9999-12-31T23:59:59-05:00', '9999-12-31T23:59:60Z', '0000-01-01T00:00:00+05:00'].each do |time|
        { 'replace_facts' => facts, 'replace_catalog' => catalog_payload('web1', []),
          'store_report' => report_payload('web1'), 'deactivate_node' => { 'certname' => 'web1' } }
          .each do |command, payload|
            expect(refused(submit(command, payload.merge('producer_timestamp' => time)))).to match(/ it must be a time/)
          end
      end
    end

    # The status of the node counted a run of which no report could be stored.
    it 'a metric that no double can hold' do
      metric = { 'category' => 'time', 'name' => 'total', 'value' => 10**400 }
      expect(refused(submit('store_report', report_payload('web1').merge('metrics' => [metric]))))
        .to eq('metrics[0].value: it must be a number that is not too large')
    end

    it 'parameters that are missing or wrong' do
      expect(refused(submit('replace_facts', facts, 'certname' => nil))).to match(/\Acertname: /)
      expect(refused(submit('replace_facts', facts, 'certname' => 'web2'))).to match(/\Acertname: /)
      expect(refused(submit('replace_facts', facts, 'producer-timestamp' => 'now'))).to match(/\Aproducer-timestamp: /)
      expect(refused(submit('replace_facts', facts, 'secondsToWaitForCompletion' => '-1'))).to match(/\AsecondsTo/)
      expect(refused(submit('replace_facts', facts, 'colour' => 'red'))).to match(/unknown parameter 'colour'/)
    end

    it 'payloads that are malformed: it names the member, and shows no value' do
      { %w[values] => 'an object', %w[certname] => 'a text', %w[producer_timestamp] => 'a time' }.each do |path, words|
        expect(refused(submit('replace_facts', facts.merge(path.first => ['pl4nted']), 'certname' => 'web1')))
          .to match(/\A#{path.first}: it must be a/).and match(/#{words}|a text/)
      end
      list = 'package_inventory: it must be a list of [NAME, VERSION, PROVIDER]'
      [{}, [%w[pl4nted 5]], [['pl4nted', 5, 'apt']]].each do |packages|
        expect(refused(submit('replace_facts', facts.merge('package_inventory' => packages)))).to match(/package_inv/)
      end
      expect(refused(submit('replace_facts', facts.merge('package_inventory' => ['x'])))).to eq(list)
      catalog = ->(resources, edges = []) { submit('replace_catalog', catalog_payload('web1', resources, edges)) }
      good = host('pl4nted')
      { { 'type' => 'pl4nted/x' } => 'resources[1].type: it must be the name of a type',
        { 'type' => 'Class', 'title' => '../pl4nted' } => 'resources[1].title: it must be the name of a class',
        { 'title' => nil } => 'resources[1].title: it must be a text',
        # It was stored, and each catalog failed that collects the type.
        { 'title' => '' } => "resources[1].title: it must be the title of a resource of the type 'Site::Host', and",
        { 'parameters' => ['pl4nted'] } => 'resources[1].parameters: it must be an object',
        { 'tags' => [1] } => 'resources[1].tags: it must be a list of texts',
        { 'exported' => 'pl4nted' } => 'resources[1].exported: it must be true or false',
        { 'line' => 'pl4nted' } => 'resources[1].line: it must be a whole number, or null' }.each do |change, message|
        expect(refused(catalog.call([good, good.merge(change)]))).to start_with(message)
      end
      expect(refused(catalog.call([good, 'pl4nted']))).to eq('resources[1]: it must be an object')
      expect(refused(catalog.call([good], [{ 'source' => 'pl4nted' }]))).to eq('edges[0].source: it must be an object')
      report = report_payload('web1', 'timestamp' => 'pl4nted')
      expect(refused(submit('store_report',
                            report))).to start_with('resources[0].events[0].timestamp: it must be a time')
      expect(service.log).not_to include('pl4nted')
    end

    # The message named a folder of the store, but not the parameter.
    it 'certnames that cannot be keys' do
      ['../web1', 'a/b', '', 'a' * 2000, "a\u0007"].each do |name|
        expect(refused(submit('replace_facts', facts_payload(name, {})))).to match(/\Acertname: '.{,250}\z/)
        expect(refused(submit('deactivate_node', 'certname' => name))).to start_with('certname: ')
      end
      expect(refused(submit('replace_facts', facts_payload('', {})))).to end_with(': it is empty')
    end

    it 'bodies that are no JSON, or not compressed as they say, or of another type' do
      command = { 'certname' => 'web1' }
      ['{"certname": "pl4nted', "\xff".b, ''].each do |body|
        expect(refused(submit('replace_facts', body, command))).to eq('the body cannot be read: not a JSON document')
      end
      expect(refused(submit('replace_facts', '[]', command))).to eq('the payload: it must be an object')
      expect(refused(submit('replace_facts', facts, {}, 'Content-Encoding' => 'gzip'))).to match(/gzip/)
      cut = Zlib.gzip(JSON.generate(facts))[0..-20]
      expect(refused(submit('replace_facts', cut, command, 'Content-Encoding' => 'gzip'))).to match(/ends too early/)
      expect(refused(submit('replace_facts', facts, {}, 'Content-Encoding' => 'br'), 415)).to match(/gzip/)
      expect(refused(submit('replace_facts', facts, {}, 'Content-Type' => 'text/plain'), 415)).to match(/json/)
      expect(client.get('/pdb/cmd/v1').status).to eq(405)
    end

    context 'with a limit' do
      let(:section) { { 'command_bytes' => 2_000_000 } }

      it 'larger commands, also compressed ones' do
        large = JSON.generate(facts.merge('values' => { 'x' => 'y' * 2_000_000 }))
        # Puma refuses it itself.
        head = "POST /pdb/cmd/v1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: #{large.bytesize}\r\n\r\n"
        expect(client.exchange(head + large).status).to eq(413)
        body = Zlib.gzip(large)
        expect(refused(submit('replace_facts', body, { 'certname' => 'web1' }, 'Content-Encoding' => 'gzip'), 413))
          .to match(/2000000 bytes.*command_bytes/)
      end
    end
  end

  it 'takes commands of several megabytes, and no other bodies of this size' do
    resources = Array.new(20_000) { |number| resource('Notify', "n#{number}", 'message' => 'x' * 100) }
    payload = JSON.generate(catalog_payload('web1', [host('www'), *resources]))
    expect(payload.bytesize).to be > 3_000_000
    clients = Array.new(3) { Thread.new { submit('replace_catalog', payload, { 'certname' => 'web1' }).status } }
    expect(clients.map(&:value)).to eq([200, 200, 200])
    expect(estate.exports.of('web1').keys).to eq(%w[site::host])
    expect(client.post('/v1/inspection_rules', payload).status).to eq(413)
  end

  describe 'rights:' do
    include_context 'with a service', '--bind', 'tcp://127.0.0.1:0', '--bind', 'ssl://127.0.0.1:0'

    let(:certificates) { Certificates.new(File.dirname(@root)) }
    let(:section) do
      certificate, key = certificates.issue
      { 'tls_cert' => certificate, 'tls_key' => key, 'tls_ca' => certificates.cacert,
        'rights' => [{ 'certname' => 'compiler', 'methods' => ['POST'], 'paths' => ['/pdb/cmd/v1'] },
                     { 'certname' => 'reader', 'methods' => ['GET'], 'paths' => ['/pdb/**'] }] }
    end

    def as(subject)
      section
      cert, key = certificates.issue(subject: subject)
      service.client('ssl', ca: certificates.cacert, cert: cert, key: key)
    end

    # @param length [String] the header that says how long the body is
    # @param body [String] or a part of it
    # @return [Integer] the status
    def send_large(client, length, body)
      head = "POST /pdb/cmd/v1?command=replace_facts&version=5&certname=web1 HTTP/1.1\r\nHost: localhost\r\n" \
             "Content-Type: application/json\r\nConnection: close\r\n#{length}\r\n\r\n"
      client.exchange(head + body).status
    end

    it 'a compiler sends commands for any node; others, and local processes, do not' do
      body = facts_payload('web1', 'kernel' => 'Linux')
      place = '/pdb/cmd/v1?command=replace_facts&version=5&certname=web1'
      expect(as('reader').post(place, body, types).status).to eq(403)
      expect(refused(as('web1').post(place, body, types), 403)).to include('rights')
      expect(service.client('tcp').post(place, body, types).status).to eq(403)
      expect(estate.inventory.names).to be_empty
      expect(as('compiler').post(place, body, types).status).to eq(200)
      expect(estate.inventory.names).to eq(%w[web1])
      # The service kept up to 'command_bytes' of everybody in a file until it knew the rights.
      large = JSON.generate(facts_payload('web1', 'large' => 'x' * 3_000_000))
      chunk = "#{large.bytesize.to_s(16)}\r\n#{large}\r\n"
      [as('reader'), as('web1'), service.client('tcp')].each do |client|
        # The rest does not arrive.
        expect(send_large(client, 'Content-Length: 30000000', large)).to eq(413)
        expect(send_large(client, 'Transfer-Encoding: chunked', chunk)).to eq(413)
      end
      expect(send_large(as('compiler'), "Content-Length: #{large.bytesize}", large)).to eq(200)
      expect(send_large(as('compiler'), 'Transfer-Encoding: chunked', "#{chunk}0\r\n\r\n")).to eq(200)
      # A token is looked for when the body is there: meanwhile the service would read nothing else.
      token = "Content-Length: #{large.bytesize}\r\nAuthorization: Bearer simpkv_x"
      expect(send_large(as('compiler'), token, large)).to eq(401)
      expect(service.log).not_to include('internal error')
    end
  end
end
