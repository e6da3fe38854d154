# frozen_string_literal: true

require 'simpkv/status/drift'
require 'stringio'
require_relative '../support/access_service'
require_relative '../support/console_pages'
require_relative '../../../simpkv-estate/spec/support/spooled_writes'
require_relative '../../../../spec/support/page'
require_relative '../../../../spec/support/replica'
require_relative 'server_helper'

RSpec.describe 'The state of the site' do
  include_context 'with a service', '--bind', 'tcp://127.0.0.1:0'

  let(:estate) { Simpkv::Estate.new(options) }

  before { make_estate }

  # @return [Hash] a part, when it has been read
  def part(name, from = client)
    eventually(errors: RuntimeError) do
      found = from.get('/v1/status').data.fetch(name)
      found unless found['pending']
    end
  end

  def seen(name, status, **more)
    estate.statuses.put(name, { 'last_seen' => Time.now.utc.iso8601, 'status' => status }.merge(more))
  end

  it 'counts each node once by its status, and those that were not seen for a day, expired or never' do
    %w[failed changed unchanged].each { |status| seen("#{status}1", status) }
    seen('noop1', 'unchanged', 'noop' => true)
    seen('old1', 'failed', 'last_seen' => '2020-01-01T00:00:00Z')
    seen('facts1', nil)
    %w[web7 web8 failed1].each { |name| estate.nodes.declare(name, 'classes' => []) }
    expect(part('nodes')).to include(
      'total' => 6, 'expired' => 0, 'overdue' => 1, 'never_run' => 2,
      'statuses' => { 'failed' => 2, 'changed' => 1, 'noop' => 1, 'unchanged' => 1, 'unseen' => 1 }
    )
  end

  # A report counted for the day on which it arrived.
  it 'counts the runs of the last days, each on its own, and says since when none is missing' do
    3.times { estate.reports.save('web1', 'status' => 'changed') }
    late = (Time.now.utc - (3 * 86_400)).iso8601(3)
    estate.reports.save('web2', 'status' => 'failed', 'producer_timestamp' => late)
    estate.reports.save('web1', 'status' => 'unchanged', 'noop' => true)
    runs = eventually(errors: RuntimeError) do
      found = part('runs')
      found if found.key?('days')
    end
    expect(runs['days'].map { |day| day['date'] }).to eq(runs['days'].map { |day| day['date'] }.sort)
    expect(runs['days'].length).to eq(14)
    sums = runs['days'].flat_map { |day| day.except('date').to_a }.group_by(&:first)
    expect(sums.transform_values { |pairs| pairs.sum(&:last) }).to include('changed' => 3, 'noop' => 1, 'failed' => 1)
    expect(runs['days'].find { |day| day['failed'] == 1 }['date']).to eq(late[0, 10])
    expect(runs).to include('reports_per_node' => 5, 'complete_since' => nil)
  end

  it 'names keys that expire soon, and no value' do
    client.put('/v1/keys/app1/token', 'value' => 'pl4nted', 'expires_after' => '1d')
    client.put('/v1/keys/app1/later', 'value' => 1, 'expires_after' => '90d')
    client.put('/v1/keys/all?global=true', 'value' => 1, 'expires_after' => '2d')
    keys = part('expiring_keys')
    expect(keys).to include('total' => 2, 'all' => true)
    expect(keys['keys'].map { |key| key.values_at('backend', 'environment', 'name') })
      .to eq([%w[default production app1/token], ['default', nil, 'all']])
    expect(client.get('/v1/status').body).not_to include('pl4nted')
  end

  it 'has the findings of doctor, which stores nothing' do
    File.binwrite(File.join(@root, 'globals/broken'), '')
    doctor = part('doctor')
    expect(doctor['counts']).to include('problem' => be > 0)
    expect(doctor['findings']).to include(include('state' => 'problem', 'what' => "key 'globals/broken'"))
    expect(store.list('globals')[:folders]).to eq(%w[estate])
    expect(part('doctor', service.client('tcp')).keys).to contain_exactly('time', 'counts')
  end

  it 'has the counters of compilers with their versions' do
    Simpkv::Estate.new(options.merge('estate' => { 'compiler_counters' => true }))
                  .reports.save('web1', 'status' => 'changed')
    # Other examples may have run in this process.
    failures = Simpkv.stats['pools'].flat_map { |pool| pool['servers'] }.sum { |server| server['failures'] }
    expect(part('compilers')['compilers']).to match(
      [include('name' => Socket.gethostname.downcase, 'version' => Simpkv::VERSION, 'failures' => failures)]
    )
  end

  it 'says that there is no access control, and no server of a directory' do
    expect(part('access')).to include('configured' => false)
    expect(part('servers')).to include('servers' => [])
  end

  # @return [String] the name of a node whose status cannot be read
  def break_status
    seen('web1', 'changed')
    File.binwrite(File.join(@root, 'globals/estate/status/web1'), '')
    'web1'
  end

  it 'has the reason in place of a part that cannot be read, and all others' do
    store.deletetree('globals/estate/status')
    expect(part('nodes')).to match('error' => include("run 'simpkv init'"))
    expect(part('expiring_keys')).to include('total' => 0)
  end

  # One such document hid all numbers.
  it 'counts the other nodes beside one that cannot be read, and names it for those who may read all keys' do
    seen('web2', 'failed')
    name = break_status
    estate.nodes.declare('web1', 'classes' => [])
    nodes = part('nodes')
    expect(nodes).to include('total' => 1, 'statuses' => include('failed' => 1, 'unseen' => 0), 'never_run' => 0)
    expect(nodes['unreadable']).to match('total' => 1, 'nodes' => [{ 'name' => name, 'documents' => be_a(Hash) }])
    expect(part('nodes', service.client('tcp'))['unreadable']).to eq('total' => 1)
  end

  it 'has keys that expire beside keys that cannot be read, whose names only those see who may read all' do
    client.put('/v1/keys/app1/token', 'value' => 1, 'expires_after' => '1d')
    File.binwrite(File.join(@root, 'globals/bad'), '{"value":"pl4nted","expires":"nonsense"}')
    File.mkfifo(File.join(@root, 'globals/pipe'))
    keys = part('expiring_keys')
    expect(keys).to include('total' => 1, 'unreadable' => include('total' => 2))
    expect(keys['unreadable']['keys']).to match(
      %w[bad pipe].map { |name| { 'backend' => 'default', 'path' => "globals/#{name}", 'why' => be_a(String) } }
    )
    expect(part('expiring_keys', service.client('tcp'))['unreadable']).to eq('total' => 2, 'of_nodes' => 0)
    expect(client.get('/v1/status').body).not_to include('pl4nted')
  end

  it 'takes no parameter, and no other method' do
    expect(client.get('/v1/status?x=1').status).to eq(400)
    expect(client.post('/v1/status', {}).status).to eq(405)
  end

  it 'has why a part cannot be read for those who may read all keys, and in the log' do
    store.deletetree('globals/estate/status')
    part('nodes')
    expect(part('nodes', service.client('tcp'))).to eq('error' => 'it cannot be read: the log of the service says why')
    line = /simpkv: 'nodes' of the state of the site cannot be read: .*'simpkv init'/
    eventually(errors: RuntimeError) { service.log.match?(line) }
    why = ->(of) { of.get('/readyz').data.dig('index', 'error') }
    eventually(errors: RuntimeError) { why.call(client) }
    expect([client, service.client('tcp')].map(&why)).to match([/simpkv init/, /the log of the service says why/])
  end

  context 'with a spool' do
    include ConsolePages
    include SpooledWrites

    let(:spool) { "#{@root}.spool" }
    let(:options) { super().merge('estate' => { 'spool' => spool }) }

    it 'is that of what waits, beside what the service delivers' do
      compiler = SpooledWrites.compiler(File.dirname(@root), options['estate']).spool
      [facts('web1'), facts('web2'), exports('web2', 'felix')].each { |write| compiler.save(write) }
      File.write(Dir[File.join(spool, 'globals/spool/*')].min, 'x')
      client
      eventually { estate.exports.of('web2').any? }
      expect(part('spool')).to include('configured' => true, 'waiting' => 1, 'limit' => nil)
      expect(client.get('/metrics').body).to match(/^simpkv_spool_waiting 1\.0$/)
      expect(text(page('/'))).to match(/waits for the server of writes: 1 step .*Steps of runs that wait .*: 1 \(\d/)
      expect(service.log).to match(/the spool: 2 stored, 0 left out$.*the spool cannot be delivered: /m)
    end
  end

  context 'without queries' do
    let(:section) { { 'query_workers' => 0 } }

    it 'says why it cannot count runs' do
      expect(part('runs')['error']).to include("'query_workers' of 'server' is 0")
    end
  end

  context 'with keys that a caller may not see' do
    let(:section) do
      { 'rights' => [{ 'user' => 'nobody', 'methods' => ['GET'], 'paths' => ['/v1/status'] },
                     { 'user' => 'nobody', 'methods' => ['GET'], 'paths' => ['/v1/keys/app1/**'],
                       'environments' => ['production'] }] }
    end

    it 'shows neither their names nor findings, which could have them' do
      %w[app1/mine app2/other].each do |name|
        client.put("/v1/keys/#{name}", 'value' => 1, 'expires_after' => '1d')
      end
      client.put('/v1/keys/app1/mine?environment=dev', 'value' => 1, 'expires_after' => '1d')
      part('expiring_keys')
      part('doctor')
      File.chmod(0o755, service.folder)
      as_nobody do
        keys, doctor = client.get('/v1/status').data.values_at('expiring_keys', 'doctor')
        keys['total'] == 1 && doctor.keys.sort == %w[counts time] &&
          keys['keys'].map { |key| key.values_at('environment', 'name') } == [%w[production app1/mine]]
      end
    end
  end
end

RSpec.describe 'The state of keys of which a backend cannot be read' do
  before { require 'simpkv/server' }

  # @param details [Boolean] whether the caller may see findings
  # @return [Hash] what a caller sees who may know of all backends but the hidden one
  def unreadable(details:)
    rights = instance_double(Simpkv::Server::Rights, findings?: details)
    allow(rights).to receive(:backend?) { |*, name| name != 'hidden' }
    errors = { 'second' => '/pl4nted is missing', 'hidden' => '/pl4nted is missing' }
    found = { keys: [], all: true, unreadable: [], unreadable_total: 0, errors: errors }
    reading = Simpkv::Status::Latest::Reading.new(found, Time.now.utc)
    Simpkv::Server::StatusView.new(rights, nil, nil).part('expiring_keys', reading)['unreadable']['backends']
  end

  it 'names the backends that the caller may know, and says why only to those who may see findings' do
    expect(unreadable(details: true)).to eq('second' => '/pl4nted is missing')
    expect(unreadable(details: false)).to match('second' => /\Ait cannot be read/)
  end
end

RSpec.describe 'The state of the servers of a directory' do
  include ConsolePages

  rule = Page.new('status.md').blocks('How to let simpkv read the lag', 'conf').first

  include_context 'with slapd', tls: true, more: Replica::SUPPLIER, rules: rule
  include_context 'with a service', '--bind', 'tcp://127.0.0.1:0'

  let(:store) { open_store }
  let(:section) { { 'compare_replicas_seconds' => 1 } }
  let(:gone) { 'ldap://127.0.0.1:1' }
  let(:backends) do
    { 'default' => directory.options('type' => 'ldap', 'id' => id, 'write_uri' => directory.tls_uri,
                                     'ldap_uri' => "#{@replica.uri} #{gone}",
                                     'tls_cacert' => directory.certificates.cacert) }
  end

  around do |example|
    Replica.run(directory, follows: false, rules: rule) do |server|
      @replica = server
      example.run
    end
  end

  it 'has each server, with the time of a read, and the keys by which it differs' do
    make_estate
    servers = eventually(errors: RuntimeError) do
      found = client.get('/v1/status').data['servers']['servers'].to_a.to_h { |server| [server['uri'], server] }
      found if found.dig(@replica.uri, 'lag')
    end
    expect(servers[directory.tls_uri]).to include('writes' => true, 'state' => 'up', 'latency_ms' => be > 0,
                                                  'lag' => nil, 'certificate_days' => be >= 0)
    expect(servers[@replica.uri]).to include('writes' => false, 'certificate_days' => nil,
                                             'lag' => include('ok' => true, 'missing' => be > 0))
    expect(servers[gone]).to include('state' => 'down', 'error' => include(gone))
    # The lag of the others was 0, in place of unknown, while one was down.
    expect(servers[directory.tls_uri])
      .to include('lag_seconds' => nil, 'lag_unknown' => "#{gone} does not say which changes there are")
    expect(client.get('/metrics').body).not_to match(/^simpkv_replica_lag_seconds\{[^}]*ldaps:/)
    expect(text(page('/'))).to match(/Latency Behind Keys that differ Certificate .* ms unknown not compared /)
  end

  context 'with callers who may not see it' do
    let(:section) do
      { 'rights' => [{ 'user' => 'nobody', 'methods' => ['GET'], 'paths' => ['/v1/status'], 'backends' => shown }] }
    end

    # @return [Array<Hash>] what the caller sees when the servers have been asked
    def seen
      make_estate
      eventually(errors: RuntimeError) { client.get('/v1/status').data['servers']['servers'] }
      File.chmod(0o755, service.folder)
      as_nobody { yield client.get('/v1/status').data['servers']['servers'] }
    end

    context 'of the backend' do
      let(:shown) { ['default'] }

      it 'says that a server is down, and not why' do
        seen do |servers|
          down = servers.find { |server| server['uri'] == gone }
          down['state'] == 'down' && down['error'] == 'it does not answer. Who may read all keys sees why'
        end
      end
    end

    context 'of another backend' do
      let(:shown) { ['other'] }

      it 'has no server' do
        seen { |servers| servers == [] }
      end
    end
  end
end

RSpec.describe 'The drift of access rights' do
  include_context 'with access control in a service'

  before { require 'simpkv/server' }

  def drift
    Simpkv::Status::Drift.of(Simpkv::Server::Site.new(options, nil, ->(_) {}).access)
  end

  it 'counts what apply would do, and members that it would leave' do
    declared.apply
    expect(drift).to eq('differences' => 0, 'conflicts' => 0, 'warnings' => 0)
    remove_member('r0', 'u0')
    expect(drift).to include('differences' => 1)
    @access.root.directory.modify_entry(@access.role_dn('r0'), [[:add, 'member', [@access.user_dn('u1')]]])
    expect(drift).to include('differences' => 2)
  end

  # The wall view would lock accounts in a directory that counts refused binds.
  it 'is found without a bind as a user' do
    declared.apply
    @access.root.directory.set_entry_password(@access.user_dn('u0'), 'another one')
    binds = %(BIND dn="#{@access.user_dn('u0')}")
    before = @access.server.count_in_log(binds)
    expect(drift).to include('differences' => 0)
    expect(@access.server.count_in_log(binds)).to eq(before)
    Simpkv::Server::Site.new(options, nil, ->(_) {}).access.reconciler.plan
    eventually(errors: RuntimeError) { @access.server.count_in_log(binds) > before }
  end
end

RSpec.describe 'Whether stores can be read' do
  before { require 'simpkv/server' }

  # Everybody saw the reason, which can name servers and entries.
  it 'is told to all, and the reason only to those who see it in the state of the site, and once to the log' do
    lines = []
    site = instance_double(Simpkv::Server::Site, backend_names: ['default'])
    allow(site).to receive(:store).and_raise(Simpkv::UnavailableError, 'ldaps://pl4nted')
    queries = instance_double(Simpkv::Server::Queries, stale?: true, report: { 'ok' => false, 'error' => 'pl4nted' })
    readiness = Simpkv::Server::Readiness.new(site, nil, queries, lines.method(:push))
    ready, parts = readiness.check(details: false)
    expect([ready, parts.to_s]).to match([false, include('says why')])
    expect(parts.to_s).not_to include('pl4nted')
    expect(readiness.check(details: true).last.to_s.scan('pl4nted').length).to eq(2)
    expect(lines).to eq(["backend 'default' cannot be read: ldaps://pl4nted"])
  end
end

RSpec.describe 'What was read last' do
  before { require 'simpkv/server' }

  let(:lines) { Queue.new }
  let(:answers) { Queue.new }

  def latest
    @latest ||= Simpkv::Status::Latest.new('a part', 0, lines.method(:push)) { answers.pop.call }
  end

  it 'is waited for during the first seconds of an attempt only' do
    expect(latest.get.to_h.values).to eq([nil, nil, nil])
    began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    100.times { latest.get }
    expect(Process.clock_gettime(Process::CLOCK_MONOTONIC) - began).to be < 60
    answers << -> { 7 }
    eventually(errors: RuntimeError) { latest.get.value == 7 }
  end

  it 'stays for its period, and is read by one thread' do
    reads = 0
    latest = Simpkv::Status::Latest.new('a part', 3600, lines.method(:push)) { reads += 1 }
    eventually(errors: RuntimeError) { latest.get.value }
    expect(Array.new(3) { latest.get.value } + [reads]).to eq([1, 1, 1, 1])
  end

  it 'goes with an error, and the next reading is tried nevertheless' do
    answers << -> { 1 } << -> { raise Simpkv::UnavailableError, 'gone' } << -> { 2 }
    expect(latest.get).to have_attributes(value: 1, error: nil)
    expect(latest.get).to have_attributes(value: 1, error: 'gone', time: be_a(Time))
    expect(latest.get).to have_attributes(value: 2, error: nil)
  end

  it 'has a line in the log for an error, and another one when the error changes' do
    2.times { answers << -> { raise Simpkv::UnavailableError, "gone\nnow" } }
    answers << -> { raise Simpkv::UnavailableError, 'other' }
    3.times { latest.get }
    expect(Array.new(2) { lines.pop }).to eq(['a part cannot be read: gone now', 'a part cannot be read: other'])
  end

  it 'shows no message of an unexpected error' do
    answers << -> { raise 'pl4nted' }
    expect(latest.get.error).to include('RuntimeError')
    expect([latest.get.error, lines.pop].join).not_to include('pl4nted')
  end

  # It was being read for ever.
  it 'is read again after an error of the interpreter' do
    answers << -> { raise SystemStackError } << -> { raise NoMemoryError } << -> { 3 }
    expect([latest.get.error, latest.get.error]).to match([/SystemStackError/, /NoMemoryError/])
    expect(latest.get).to have_attributes(value: 3, error: nil)
  end

  # A log that could not be written left it unfinished for ever.
  it 'is finished before the log has its error' do
    seen = Queue.new
    slow = ->(_line) { seen << @one.get.error }
    @one = Simpkv::Status::Latest.new('a part', 3600, slow, patience: 0.1) { raise Simpkv::UnavailableError, 'gone' }
    @one.get
    expect(seen.pop).to eq('gone')
  end
end

RSpec.describe 'The process of doctor' do
  before { require 'simpkv/server' }

  def findings(*command)
    Simpkv::Server::DoctorProcess.new(command).findings
  end

  it 'is an error if it prints no findings, fails, or does not exist' do
    expect { findings('sh', '-c', 'echo x') }.to raise_error(Simpkv::UnavailableError, /did not print/)
    expect { findings('sh', '-c', 'echo no >&2; exit 78') }.to raise_error(Simpkv::UnavailableError, /failed: no/)
    expect { findings('/nonexistent') }.to raise_error(Simpkv::UnavailableError, /cannot be started/)
    expect { Simpkv::Server::DoctorProcess.new(nil).findings }.to raise_error(Simpkv::InvalidError, /standard input/)
  end

  it 'ends with the service' do
    process = Simpkv::Server::DoctorProcess.new(%w[sleep 1000])
    thread = Thread.new { process.findings }
    thread.report_on_exception = false
    eventually(errors: RuntimeError) { process.instance_variable_get(:@pid) }
    process.stop
    expect { thread.value }.to raise_error(Simpkv::UnavailableError, /failed/)
  end
end
