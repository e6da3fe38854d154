# frozen_string_literal: true

require 'time'
require 'zlib'
require_relative 'server_helper'

RSpec.describe 'The API of PuppetDB' do
  include_context 'with a service', '--bind', 'tcp://127.0.0.1:0'

  let(:estate) { Simpkv::Estate.new(options) }
  let(:local) { service.client('tcp') }

  before do
    estate.make
    save('web1', 'kernel' => 'Linux', 'os' => { 'family' => 'Debian' }, 'db_password' => 'pl4nted')
    save('web2', 'kernel' => 'Linux', 'os' => { 'family' => 'RedHat' })
    hosts = { 'title' => '/etc/hosts', 'parameters' => { 'ensure' => 'file' }, 'tags' => %w[file] }
    lines = { 'title' => "a\n  b\t", 'parameters' => {}, 'tags' => %w[exec] }
    estate.exports.save('web1', { 'file' => [hosts], 'exec' => [lines] }, 'production')
  end

  def save(certname, facts)
    estate.facts.save(certname, facts)
    estate.statuses.put(certname, 'last_seen' => Time.now.utc.iso8601, 'environment' => 'production',
                                  'status' => 'changed', 'changes' => 1, 'failures' => 0)
  end

  def query(parameters = {}, path = '')
    local.get("/pdb/query/v4#{path}?#{URI.encode_www_form(parameters)}")
  end

  def post(data, path = '', headers = { 'Content-Type' => 'application/json' })
    local.post("/pdb/query/v4#{path}", data, headers)
  end

  def names(response)
    expect(response.status).to eq(200)
    response.data.map { |row| row['certname'] }.sort
  end

  it 'answers PQL and ASTs, by GET and POST, to every local process' do
    pql = 'inventory[certname] { facts.os.family = "Debian" }'
    ast = ['=', %w[fact kernel], 'Linux']
    expect(names(query('query' => pql))).to eq(%w[web1])
    expect(names(post('query' => pql))).to eq(%w[web1])
    expect(names(query({ 'query' => JSON.generate(ast) }, '/nodes'))).to eq(%w[web1 web2])
    expect(names(post({ 'query' => ast }, '/nodes'))).to eq(%w[web1 web2])
    expect(names(post({ 'query' => JSON.generate(['from', 'nodes', ast]) }))).to eq(%w[web1 web2])
    expect(names(query({}, '/nodes'))).to eq(%w[web1 web2])
    expect(names(post('', '/nodes'))).to eq(%w[web1 web2])
    expect(names(post({ 'query' => pql }, '', {}))).to eq(%w[web1]) # It was 415: PuppetDB takes a body without a type.
    # The form was ignored, so that the answer had all nodes. The gem puppetdb-ruby, and so `puppet query`, sends it.
    form = { 'query' => '["=","certname","web2"]', 'limit' => 5 }
    response = local.request('GET', '/pdb/query/v4/nodes', URI.encode_www_form(form),
                             'Content-Type' => 'application/x-www-form-urlencoded')
    expect(names(response)).to eq(%w[web2])
  end

  it 'answers with a page, the number of all rows, and JSON for people' do
    order = [{ 'field' => 'certname', 'order' => 'desc' }]
    page = query({ 'limit' => 1, 'offset' => 0, 'order_by' => JSON.generate(order), 'include_total' => true }, '/nodes')
    expect([names(page), page.headers['x-records']]).to eq([%w[web2], '2'])
    page = post({ 'limit' => 1, 'offset' => 1, 'order_by' => order, 'include_total' => true }, '/nodes')
    expect([names(page), page.headers['x-records']]).to eq([%w[web1], '2'])
    expect(query({}, '/nodes').headers).not_to include('x-records')
    pretty = query({ 'pretty' => 'true' }, '/nodes')
    expect([pretty.body.lines.length > 5, names(pretty)]).to eq([true, %w[web1 web2]])
    expect(query('query' => 'nodes[certname] { }', 'ast_only' => 'true').data.first(2)).to eq(%w[from nodes])
  end

  it 'answers paths below an entity, also with titles that have slashes' do
    expect(query({}, '/nodes/web1').data).to include('certname' => 'web1', 'facts_environment' => a_kind_of(String))
    expect(query({}, '/nodes/web1/facts/kernel').data).to match([include('name' => 'kernel', 'value' => 'Linux')])
    %w[/resources/File/%2Fetc%2Fhosts /resources/File//etc/hosts
       /nodes/web1/resources/File/%2Fetc%2Fhosts].each do |path|
      expect(query({}, path).data).to match([include('title' => '/etc/hosts', 'parameters' => { 'ensure' => 'file' })])
    end
    expect(query({}, '/resources/Exec/a%0A%20%20b%09').data).to match([include('title' => "a\n  b\t")])
    expect(query({}, '/resources/Exec/a%00')).to have_attributes(status: 400, body: start_with('malformed path'))
  end

  it 'says what it does not know as PuppetDB says it' do
    { '/nodes/web9' => 'node web9', '/nodes/web9/facts' => 'node web9', '/factsets/web9' => 'factset web9',
      '/environments/nosuch' => 'environment nosuch' }.each do |path, subject|
      expect(query({}, path))
        .to have_attributes(status: 404, data: { 'error' => "No information is known about #{subject}" })
    end
    expect(query({}, '/facts/nosuch')).to have_attributes(status: 200, data: [])
    expect(query({}, '/nodes/web1/nosuch')).to have_attributes(status: 404)
    expect(query({}, '/nosuch')).to have_attributes(status: 404, body: %r{/pdb/query/v4/nosuch})
    expect(local.get('/pdb/query/v3/nodes'))
      .to have_attributes(status: 404, body: 'The v3 API has been retired; please use v4')
  end

  # As PuppetDB 7.12 answers.
  it 'refuses what is wrong with a text' do
    refused = ->(response) { [response.status, response.headers['content-type'], response.body] }
    text = 'text/plain;charset=utf-8'
    expect(refused.call(query)).to eq([400, text, "Missing required query parameter 'query'"])
    expect(refused.call(query({ 'foo' => 1 }, '/nodes'))).to eq([400, text, "Unsupported query parameter 'foo'"])
    expect(refused.call(query({ 'limit' => 'x' }, '/nodes')))
      .to eq([400, text, "Illegal value 'x' for :limit; expected a positive non-zero integer."])
    expect(refused.call(query('query' => 'nodes[certname] { certname = '))).to match([400, text, /line 1, column \d+/])
    expect(refused.call(query({ 'query' => '["=","colour","red"]' }, '/nodes')))
      .to match([400, text, /'colour' is not a queryable object for nodes/])
    expect(refused.call(post({}, '/nodes', 'Content-Type' => 'text/plain')))
      .to eq([415, text, 'content type text/plain not supported'])
    expect(refused.call(post('nodes', '/nodes'))).to match([400, text, /not a JSON document/])
    deep = 200.times.reduce(%w[= certname web1]) { |query, _| ['not', query] }
    expect(refused.call(query({ 'query' => JSON.generate(deep, max_nesting: 0) }, '/nodes')))
      .to eq([400, text, 'A query may be nested at most 64 deep'])
    expect(refused.call(post("{\"query\":#{JSON.generate(deep, max_nesting: 0)}}", '/nodes')))
      .to eq([400, text, 'the body cannot be read: nested too deeply'])
    expect(refused.call(local.get('/pdb/query/v4/nodes', 'Accept' => 'text/html')))
      .to eq([406, text, 'must accept application/json'])
    ['', '*/*', 'text/html, application/json;q=0.1'].each do |accepted|
      expect(local.get('/pdb/query/v4/nodes', 'Accept' => accepted).status).to eq(200)
    end
    expect(refused.call(post('[]', '/nodes'))).to match([400, text, /object/])
  end

  # Answers had ten times the bytes of those of PuppetDB. The length of a compressed secret would tell of it.
  it 'compresses larger answers for clients who ask for it, and no others' do
    save('web3', 'long' => 'x' * 5000)
    eventually(errors: RuntimeError) { names(query({}, '/nodes')).include?('web3') }
    expect(service.client.put('/v1/keys/long', 'value' => 'x' * 5000).status).to eq(201)
    get = lambda do |path, client = local|
      client.exchange("GET #{path} HTTP/1.0\r\nHost: localhost\r\nAccept-Encoding: gzip;q=1.0, deflate\r\n\r\n")
    end
    page = get.call('/pdb/query/v4/facts?include_total=true')
    expect(page.headers).to include('content-encoding' => 'gzip', 'vary' => 'accept-encoding', 'x-records' => /\A\d+\z/)
    expect(JSON.parse(Zlib.gunzip(page.body))).to eq(query({}, '/facts').data)
    expect([page.body.length < 1000, query({}, '/facts').headers]).to match([true, hash_excluding('content-encoding')])
    expect([get.call('/pdb/query/v4/environments'), get.call('/v1/keys/long', service.client)])
      .to all(have_attributes(status: 200, headers: hash_excluding('content-encoding')))
  end

  context 'with a limit of rows' do
    let(:section) { { 'query_rows' => 1 } }

    it 'refuses larger answers' do
      expect(query({}, '/nodes')).to have_attributes(status: 400, body: /more than 1 row.*query_rows/)
      expect(query({}, '/nodes/web1')).to have_attributes(status: 200)
    end
  end

  it 'shows no secrets' do
    body = query({}, '/facts').body
    expect(body).to include('kernel')
    expect(body).not_to include('pl4nted')
  end

  it 'lets local processes post queries, and nothing else' do
    expect(local.post('/v1/inspection_rules', {})).to have_attributes(status: 403)
    expect(local.post('/pdb/admin/v1/archive', {})).to have_attributes(status: 403)
    expect(local.get('/pdb/admin/v1/archive')).to have_attributes(status: 403)
    expect(local.put('/pdb/query/v4/nodes', {})).to have_attributes(status: 403)
    expect(post({ 'query' => 'nodes { }' }, '', 'Content-Type' => 'application/json', 'Origin' => 'http://evil.example'))
      .to have_attributes(status: 403, headers: include('content-type' => 'text/plain;charset=utf-8'))
  end

  it 'sees what other processes store' do
    expect(names(query({}, '/nodes'))).to eq(%w[web1 web2])
    save('web3', 'kernel' => 'Linux')
    eventually(errors: RuntimeError) { names(query({}, '/nodes')) == %w[web1 web2 web3] }
    estate.remove('web1')
    eventually(errors: RuntimeError) { names(query({}, '/nodes')) == %w[web2 web3] }
  end

  context 'with one worker, and answers of several megabytes' do
    let(:section) { { 'query_workers' => 1 } }

    before { 20.times { |number| save("big#{number}", 'text' => 'x' * 200_000) } }

    it 'answers others while a client reads slowly' do
      eventually(errors: RuntimeError) { names(query({}, '/nodes')).length == 22 }
      path = '/pdb/query/v4/facts?query=%5B%22%3D%22%2C%22name%22%2C%22text%22%5D'
      local.connect do |socket|
        socket.write("GET #{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        beginning = socket.readpartial(1000)
        expect(names(query({}, '/nodes/web1/facts'))).to eq(%w[web1 web1])
        body = (beginning + socket.read).split("\r\n\r\n", 2).last
        expect(JSON.parse(body).map { |row| row['value'].length }).to eq([200_000] * 20)
      end
    end

    it 'goes on after a client that does not wait for the end' do
      eventually(errors: RuntimeError) { names(query({}, '/nodes')).length == 22 }
      3.times do
        local.connect do |socket|
          socket.write("GET /pdb/query/v4/facts HTTP/1.1\r\nHost: localhost\r\n\r\n")
          socket.readpartial(10)
        end
      end
      expect(names(query({}, '/nodes/web1/facts'))).to eq(%w[web1 web1])
      eventually(errors: RuntimeError) { answers.zero? }
    end

    # @return [Integer] the number of open files with answers, which have no name
    def answers
      Dir["/proc/#{service.pid}/fd/*"].count { |fd| File.symlink?(fd) && File.readlink(fd).match?(/index.*deleted/) }
    end
  end

  context 'with a limit of age' do
    let(:section) { { 'query_age' => 1 } }

    it 'answers nothing from an index that is too old' do
      eventually(errors: RuntimeError) { query({}, '/nodes').status == 200 }
      File.rename(@root, "#{@root}.away")
      eventually(errors: RuntimeError) { query({}, '/nodes').status == 503 }
      expect(local.get('/readyz')).to have_attributes(status: 503, data: include('index' => include('ok' => false)))
      expect(local.get('/status/v1/simple')).to have_attributes(status: 503, body: 'error')
      File.rename("#{@root}.away", @root)
      eventually(errors: RuntimeError) { query({}, '/nodes').status == 200 }
    end
  end

  context 'without workers' do
    let(:section) { { 'query_workers' => 0 } }

    it 'answers no queries, and makes no index' do
      expect(query({}, '/nodes')).to have_attributes(status: 503, body: /query_workers/)
      expect(local.get('/readyz').data).not_to include('index')
      expect(Dir.exist?("#{@root}.index")).to be(false)
    end
  end

  it 'tells version, time and status' do
    expect(local.get('/pdb/meta/v1/version').data['version']).to match(/\A7\.\d+\.\d+\z/)
    expect(local.get('/pdb/meta/v1/version/latest').data).to include('newer' => false)
    expect(Time.iso8601(local.get('/pdb/meta/v1/server-time').data['server_time'])).to be_within(60).of(Time.now)
    query({}, '/nodes')
    services = local.get('/status/v1/services').data
    expect(services['puppetdb-status']).to include('state' => 'running', 'status' => include('read_db_up?' => true))
    service = local.get('/status/v1/services/puppetdb-status?level=critical').data
    expect(service).to include('detail_level' => 'critical', 'service_name' => 'puppetdb-status')
    expect(local.get('/status/v1/simple').body).to eq('running')
    expect(local.get('/status/v1/services/nosuch')).to have_attributes(status: 404, data: include('msg' => /nosuch/))
    expect(local.get('/status/v1/services?level=nosuch').status).to eq(400)
  end

  it 'tells the numbers of nodes and resources as Jolokia does' do
    bean = 'puppetlabs.puppetdb.population:name'
    read = ->(name) { local.get("/metrics/v2/read/#{bean}=#{name}").data }
    expect(read.call('num-nodes')).to include('status' => 200, 'value' => { 'Value' => 2 })
    expect(read.call('num-resources')['value']).to eq('Value' => 2)
    expect(read.call('avg-resources-per-node/Value')['value']).to eq(1.0)
    expect(read.call('nosuch')).to include('status' => 404, 'error_type' => /InstanceNotFound/)
    expect(read.call('*')['value'].length).to eq(3)
    expect(local.get('/metrics/v2/list').data['value'].keys).to eq(['puppetlabs.puppetdb.population'])
    expect(local.get('/metrics/v2/exec/java.lang:type=Memory/gc').data).to include('status' => 400)
    requests = %w[num-nodes nosuch].map { |name| { 'type' => 'read', 'mbean' => "#{bean}=#{name}" } }
    expect(service.client.post('/metrics/v2', requests).data.map { |answer| answer['status'] }).to eq([200, 404])
  end

  it 'has metrics of its index' do
    query({}, '/nodes')
    expect(local.get('/metrics').body).to match(/^simpkv_index_usable 1/).and match(/^simpkv_index_age_seconds /)
  end

  it 'leaves no process behind after SIGUSR2 and SIGTERM' do
    query({}, '/nodes')
    before = workers
    expect(before.length).to be >= 1
    starts = service.log.scan('serving on tcp').length
    service.signal(:USR2)
    eventually(errors: RuntimeError) { service.log.scan('serving on tcp').length > starts }
    expect(names(query({}, '/nodes'))).to eq(%w[web1 web2])
    expect(workers & before).to eq([])
    expect(before.map { |pid| File.exist?("/proc/#{pid}") }).to all(be(false))
    last = workers
    expect(service.terminate).to eq(0)
    eventually(errors: RuntimeError) { last.none? { |pid| File.exist?("/proc/#{pid}") } }
  end

  # @return [Array<Integer>] the children of the service
  def workers
    Dir["/proc/#{service.pid}/task/*/children"].flat_map { |file| File.read(file).split.map { |pid| Integer(pid) } }
  end

  context 'with a directory' do
    include_context 'with slapd'
    let(:backends) { { 'default' => directory.options('type' => 'ldap', 'id' => id) } }
    let(:store) { open_store }

    it 'answers the same' do
      expect(names(query('query' => 'nodes[certname] { facts { name = "kernel" } }'))).to eq(%w[web1 web2])
      save('web3', 'kernel' => 'Linux')
      eventually(errors: RuntimeError) { names(query({}, '/nodes')) == %w[web1 web2 web3] }
    end
  end
end
