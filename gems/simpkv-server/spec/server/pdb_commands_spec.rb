# frozen_string_literal: true

require 'digest/sha1'
require 'zlib'
require_relative 'server_helper'
require_relative '../../../../spec/support/certificates'
require_relative '../../../../spec/support/wire_formats'

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

  shared_examples 'a store of commands' do
    it 'stores facts, trusted facts, exports, a report and the status of a node' do
      submit!('replace_facts', facts_payload('web1', 'kernel' => 'Linux', 'trusted' => { 'certname' => 'web1' }))
      nested = { 'a' => [1, { '__ptype' => 'Sensitive', '__pvalue' => 'pl4nted' }] }
      resource = host('www', { 'ip' => '192.0.2.1', 'login' => 'pl4nted', 'nested' => nested },
                      'tags' => %w[b a], 'sensitive_parameters' => %w[login])
      submit!('replace_catalog', catalog_payload('web1', [resource]))
      submit!('store_report', report_payload('web1', {}))
      expect(estate.facts.find('web1'))
        .to include('values' => { 'kernel' => 'Linux' }, 'trusted' => { 'certname' => 'web1' })
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
    end

    it 'removes what a node exports no more, and the whole node' do
      submit!('replace_catalog', catalog_payload('web1', [host('www')]))
      submit!('replace_catalog', catalog_payload('web1', [resource('Notify', 'a')]))
      expect(estate.exports.of('web1')).to eq({})
      submit!('deactivate_node', 'certname' => 'web1', 'producer_timestamp' => Time.now.utc.iso8601(3))
      expect(estate.statuses.get('web1')).to be_nil
    end
  end

  it_behaves_like 'a store of commands'

  Directories.each_server do |server, tags|
    context "with a directory, #{server}", **tags do
      include_context 'with a directory', server
      let(:backends) { { 'default' => directory.options('type' => 'ldap', 'id' => id) } }
      let(:store) { open_store }

      it_behaves_like 'a store of commands'

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
    submit!('store_report', report_payload('web1'))
    submit!('replace_catalog', catalog_payload('web1', [host('old')], at: old))
    submit!('deactivate_node', 'certname' => 'web1', 'producer_timestamp' => old.utc.iso8601(3))
    expect(estate.exports.of('web1')['site::host']).to match([include('title' => 'new')])
    expect(estate.statuses.get('web1')).to include('runs' => 1)
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

    it 'stores a catalog that Puppet can read, and that queries answer from' do
      motd = resource('File', '/etc/motd', { 'ensure' => 'file', 'require' => 'Notify[n]' }, 'tags' => %w[file])
      main = resource('Class', 'main', 'name' => 'main')
      edges = [edge(%w[Stage main], %w[Class main]), edge(%w[Class main], %w[File /etc/motd]),
               edge(%w[Class main], %w[Site::Host www]),
               edge(%w[Notify n], %w[File /etc/motd], relationship: 'required-by')]
      resources = [resource('Stage', 'main', 'name' => 'main'), main, motd, resource('Notify', 'n'), host('www')]
      submit!('replace_catalog', catalog_payload('web1', resources, edges))
      data = estate.catalogs.get('web1')
      expect(data['resources'].map { |each| each['type'] }).to eq(%w[Stage Class File Notify])
      expect(data['edges']).to eq([{ 'source' => 'Stage[main]', 'target' => 'Class[main]' },
                                   { 'source' => 'Class[main]', 'target' => 'File[/etc/motd]' }])
      expect(relationships).to include(%w[Class[main] contains File[/etc/motd]],
                                       %w[Notify[n] required-by File[/etc/motd]])
      expect(restored(data).resource('File[/etc/motd]')[:ensure]).to eq('file')
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

  it 'stores neither logs nor values of events, and puts failures first' do
    log = { 'message' => 'pl4nted', 'level' => 'notice', 'source' => 'Puppet', 'tags' => [] }
    events = Array.new(101) { {} } + [{ 'status' => 'failure', 'message' => 'failed' }]
    submit!('store_report', report_payload('web1', *events).merge('logs' => [log]))
    report = estate.reports.latest('web1')
    expect(report['events'].first).to include('status' => 'failure')
    expect([report['events'].length, report['events_left_out']]).to eq([100, 2])
    expect(report.to_s).not_to match(/pl4nted|n3w|0ld/)
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

    it 'parameters that are missing or wrong' do
      expect(refused(submit('replace_facts', facts, 'certname' => nil))).to match(/\Acertname: /)
      expect(refused(submit('replace_facts', facts, 'certname' => 'web2'))).to match(/\Acertname: /)
      expect(refused(submit('replace_facts', facts, 'checksum' => '0' * 40))).to match(/\Achecksum: /)
      expect(refused(submit('replace_facts', facts, 'checksum' => 'x'))).to match(/\Achecksum: /)
      expect(refused(submit('replace_facts', facts, 'producer-timestamp' => 'now'))).to match(/\Aproducer-timestamp: /)
      expect(refused(submit('replace_facts', facts, 'secondsToWaitForCompletion' => '-1'))).to match(/\AsecondsTo/)
      expect(refused(submit('replace_facts', facts, 'colour' => 'red'))).to match(/unknown parameter 'colour'/)
    end

    it 'payloads that are malformed: it names the member, and shows no value' do
      { %w[values] => 'an object', %w[certname] => 'a text', %w[producer_timestamp] => 'a time' }.each do |path, words|
        expect(refused(submit('replace_facts', facts.merge(path.first => ['pl4nted']), 'certname' => 'web1')))
          .to match(/\A#{path.first}: it must be a/).and match(/#{words}|a text/)
      end
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

    it 'certnames that cannot be keys' do
      ['../web1', 'a/b', '', 'a' * 2000, "a\u0007"].each do |name|
        expect(submit('replace_facts', facts_payload(name, {})).status).to be_between(400, 413)
        expect(submit('deactivate_node', 'certname' => name).status).to be_between(400, 413)
      end
    end

    it 'bodies that are no JSON, or not compressed as they say, or of another type' do
      command = { 'certname' => 'web1' }
      expect(refused(submit('replace_facts', '{"certname": "pl4nted', command))).to eq('the body is not JSON')
      expect(refused(submit('replace_facts', "\xff".b, command))).to eq('the body is not JSON')
      expect(refused(submit('replace_facts', '', command))).to eq('the body is not JSON')
      expect(refused(submit('replace_facts', '[]', command))).to eq('the payload: it must be an object')
      expect(refused(submit('replace_facts', facts, {}, 'Content-Encoding' => 'gzip'))).to match(/gzip/)
      cut = Zlib.gzip(JSON.generate(facts))[0..-20]
      expect(refused(submit('replace_facts', cut, command, 'Content-Encoding' => 'gzip'))).to match(/gzip/)
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
      expect(service.log).not_to include('internal error')
    end
  end
end
