# frozen_string_literal: true

require 'cgi'
require 'securerandom'
require 'simpkv/server'
require_relative '../../../../spec/support/certificates'
require_relative '../../../../spec/support/replica'
require_relative '../support/event_stream'
require_relative 'server_helper'

RSpec.describe 'The watch of keys by HTTP' do
  # The watch of one that was deleted may last a little longer than an example.
  let(:folder) { "/v1/keys/#{name}/" }
  let(:name) { "app#{SecureRandom.hex(4)}" }

  def watch(target, headers = {}, from: client)
    EventStream.new(from, target, headers).tap { |events| opened << events }
  end

  let(:opened) { [] }

  after { opened.each(&:close) }

  # @return [Integer] the requests that are answered, or wait
  def answers
    service.log.scan("GET #{folder} 200").length
  end

  shared_examples 'a watch' do
    before { client.put("#{folder}a", 'value' => 'pl4nted') }

    it 'tells of changes below a folder as they happen, without values, and continues from a cookie' do
      events = watch("#{folder}?watch=true")
      expect(events.head).to match(%r{\AHTTP/1.1 200.*text/event-stream.*connection: close}im)
      expect(events.next).to eq(%w[ready known])
      client.put("#{folder}a", 'value' => 'pl4nted-2')
      put = events.read
      expect(put).to include('event' => 'put', 'id' => String, 'data' => '{"key":"a"}')
      events.close
      client.put("#{folder}sub/b", 'value' => 1)
      client.delete("#{folder}a")
      again = watch("#{folder}?watch=true", { 'Last-Event-ID' => put['id'] })
      told = Enumerator.produce { again.next }.take_while { |kind, _| kind != 'ready' }
      expect(told).to include(%w[put sub/b], %w[delete a])
      expect(service.log).not_to include('pl4nted')
    end

    it 'answers a request that waits when something has changed, or with the same cookie in the end' do
      first = client.get("#{folder}?wait=60s").data
      expect(first).to match('changes' => [], 'deletions' => 'known', 'cookie' => String)
      wait = "#{folder}?wait=60s&since=#{CGI.escape(first['cookie'])}"
      waiting = Thread.new { client.get(wait) }
      eventually(errors: RuntimeError) { answers == 2 }
      client.delete("#{folder}a")
      found = waiting.value.data
      expect(found).to include('changes' => [{ 'change' => 'delete', 'key' => 'a' }], 'deletions' => 'known')
      expect(client.get(wait).data).to eq(found)
      again = client.get("#{folder}?wait=1s&since=#{CGI.escape(found['cookie'])}")
      expect(again.data).to eq('changes' => [], 'deletions' => 'known', 'cookie' => found['cookie'])
    end
  end

  context 'in files' do
    include_context 'with a service for all examples'
    it_behaves_like 'a watch'

    it 'refuses a request that is wrong, and a folder that does not exist' do
      client.put("#{folder}a", 'value' => 1)
      { "#{folder}?watch=true&wait=1s" => 'either watch=true', "#{folder}?since=x" => 'either watch=true',
        "#{folder}?watch=yes" => 'either watch=true', "#{folder}?wait=11m" => "'wait' must be",
        "#{folder}?watch=true&limit=1" => "unknown parameter 'limit'",
        "#{folder}?wait=1s&since=x" => 'cookie' }.each do |target, why|
        expect(client.get(target)).to have_attributes(status: 400, detail: include(why))
      end
      ['none/', "#{name}/a"].each { |key| expect(client.get("/v1/keys/#{key}?watch=true").status).to eq(404) }
      expect(client.request('HEAD', "#{folder}?watch=true").status).to eq(400)
    end

    it 'tells that changes were lost' do
      client.put("#{folder}a", 'value' => 1)
      cookie = client.get("#{folder}?wait=1s").data['cookie'][/file:\d+/]
      many = Array.new(1001) { |number| ["environments/production/#{name}/sub/#{number}", '{"value":1,"metadata":{}}'] }
      store.put_many(many.to_h)
      found = client.get("#{folder}?wait=1s&since=#{cookie}").data
      expect(found).to include('changes' => [{ 'change' => 'resync', 'key' => '' }], 'deletions' => 'unknown')
    end

    # Each client had a thread, or a watch of its own.
    it 'holds many clients without a thread for each, and watches their folder once' do
      client.put("#{folder}a", 'value' => 1)
      watch("#{folder}?watch=true").read
      tasks = -> { Dir.children("/proc/#{service.pid}/task").length }
      watches = lambda do
        Dir.children("/proc/#{service.pid}/fd").count do |fd|
          File.readlink("/proc/#{service.pid}/fd/#{fd}").include?('inotify')
        rescue Errno::ENOENT
          false
        end
      end
      before = [tasks.call, watches.call]
      many = Array.new(100) { watch("#{folder}?watch=true") }
      expect(many.map(&:next)).to all(eq(%w[ready known]))
      expect(client.get('/metrics').body).to include("simpkv_watch_clients 101.0\n").and(match(/_watch_folders [1-9]/))
      expect(tasks.call).to be <= before.first + 5 # Those of Puma, which answers requests.
      expect(watches.call).to eq(before.last)
      client.put("#{folder}new", 'value' => 1)
      expect(many.map(&:next)).to all(eq(%w[put new]))
    end

    it 'continues after a restart' do
      client.put("#{folder}a", 'value' => 1)
      events = watch("#{folder}?watch=true")
      first = events.read
      service.signal(:USR2)
      expect(events.rest.map(&:first)).to eq(%w[end])
      store.put("environments/production/#{name}/b", '{"value":1,"metadata":{}}')
      again = watch("#{folder}?watch=true", { 'Last-Event-ID' => first['id'] })
      expect([again.next, again.next]).to include(%w[put b])
      eventually(within: 60, errors: RuntimeError) { service.log.scan('serving on unix').length == 2 }
    end

    it 'ends with the service' do
      client.put("#{folder}a", 'value' => 1)
      events = watch("#{folder}?watch=true")
      cookie = client.get("#{folder}?wait=1s").data['cookie']
      wait = Thread.new { client.get("#{folder}?wait=600s&since=#{CGI.escape(cookie)}") }
      eventually(errors: RuntimeError) { answers == 3 }
      expect(service.terminate).to eq(0)
      expect(events.rest.map(&:first)).to eq(%w[ready end])
      expect(wait.value.data).to include('changes' => [], 'cookie' => cookie)
    end
  end

  context 'in a directory' do
    include_context 'with a directory', Slapd, more: Replica::SUPPLIER
    include_context 'with a service for all examples'
    # A request that waited had an answer at once with the changes of before, if the audit log had reads.
    let(:backends) do
      audit = { 'to' => "#{@root}.audit", 'reads' => true }
      { 'default' => directory.options('type' => 'ldap', 'id' => id, 'audit' => audit) }
    end
    let(:store) { open_store }
    it_behaves_like 'a watch'

    it 'tells what changes while the server restarts, and nothing of its connection' do
      client.put("#{folder}a", 'value' => 1)
      events = watch("#{folder}?watch=true")
      expect(events.next).to eq(%w[ready known])
      directory.restart
      eventually(errors: RuntimeError) { client.put("#{folder}b", 'value' => 1).status == 201 }
      expect(events.next).to eq(%w[put b])
    end
  end

  # Its replies and cookies are others than those of OpenLDAP.
  context 'on 389-DS', :long, ds389: true do
    include_context 'with a directory', Ds389
    include_context 'with a service for all examples'
    let(:backends) { { 'default' => directory.options('type' => 'ldap', 'id' => id) } }
    let(:store) { open_store }
    it_behaves_like 'a watch'
  end

  context 'over TLS' do
    include_context 'with a service', '--bind', 'ssl://127.0.0.1:0'

    let(:certificates) { @certificates ||= Certificates.new(Dir.mktmpdir('ca')) }
    let(:section) do
      cert, key = certificates.issue('127.0.0.1')
      { 'tls_cert' => cert, 'tls_key' => key, 'tls_ca' => certificates.cacert, 'rights' => rights }
    end
    let(:rights) do
      { 'reader' => ["/v1/keys/#{name}/**"], 'narrow' => ["/v1/keys/#{name}", "/v1/keys/#{name}/*"] }
        .map { |host, paths| { 'certname' => "#{host}.example.com", 'methods' => ['GET'], 'paths' => paths } }
    end

    after { FileUtils.rm_rf(File.dirname(certificates.cacert)) }

    def client_of(certname)
      cert, key = certificates.issue(subject: certname, names: nil)
      service.client('ssl', ca: certificates.cacert, cert: cert, key: key)
    end

    it 'needs the right to all keys below, and ends with it' do
      client.put("#{folder}a", 'value' => 1)
      expect(client_of('narrow.example.com').get("#{folder}?watch=true"))
        .to have_attributes(status: 403, detail: include('all keys below'))
      reader = client_of('reader.example.com')
      expect(reader.get("#{folder}?watch=true&environment=dev").status).to eq(404)
      expect(reader.get('/v1/keys/?watch=true').status).to eq(403)
      events = watch("#{folder}?watch=true", from: reader)
      expect(events.next).to eq(%w[ready known])
      client.put("#{folder}b", 'value' => 1)
      expect(events.next).to eq(%w[put b])

      service.configure(options.merge('server' => options['server'].merge(section, 'rights' => [rights.last])))
      service.signal(:HUP)
      eventually(errors: RuntimeError) { service.log.include?('were read again') }
      expect(events.rest).to match([['end', start_with('reader.example.com has no right')]])
    end
  end
end

RSpec.describe Simpkv::Server::Watches do
  around { |example| Scratch.make('watches') { |folder| (@folder = folder) && example.run } }

  # It went on, and did not count.
  it 'ends a watch that has not begun in time' do
    stub_const("#{described_class}::Folder::START", -1)
    store = Object.new
    store.define_singleton_method(:watch) { |_| sleep }
    watches = described_class.new(instance_double(Simpkv::Server::Site, store: [nil, store]), nil, 4, nil)
    before = Thread.list
    expect { watches.join('default', 'globals', nil, nil) }.to raise_error(Simpkv::UnavailableError, /not begun/)
    eventually { (Thread.list - before).one? } # It looks at rights.
  ensure
    watches&.stop
  end

  # One caller could keep all others from watching for minutes.
  it 'gives the place of a folder for which nobody waits to another one' do
    backend = { 'type' => 'file', 'id' => 'spec', 'root_path' => @folder }
    log = Simpkv::Server::Log.new(StringIO.new)
    site = Simpkv::Server::Site.new({ 'backends' => { 'default' => backend } }, nil, log)
    watches = described_class.new(site, Simpkv::Server::Caller.new(:user, 'spec', Process.euid), 4, log)
    folders = Array.new(65) { |number| "globals/f#{number}" }
    folders.each { |folder| FileUtils.mkdir_p(File.join(@folder, folder)) }
    joined = lambda do |folder|
      stream = described_class::Stream.new(Simpkv::Clock.now + 600) { nil }
      watches.join('default', folder, stream, nil).first.tap { |watched| watched.leave(stream) }
    end
    first, *others = folders.first(64).map(&joined)
    expect(eventually(errors: Simpkv::Server::Problem) { joined.call(folders.last) }).to be_alive
    eventually { !first.alive? }
    expect(others).to all(be_alive)
  ensure
    watches&.stop
  end
end

RSpec.describe Simpkv::Server::Watches::Reactor do
  it 'cuts a client that does not read, and goes on for the others' do
    connections = Simpkv::Server::Connections.new(4, Simpkv::Server::Log.new(StringIO.new))
    reactor = described_class.new(Simpkv::Server::Log.new(StringIO.new))
    gone = Queue.new
    streams, clients = %w[slow quick].map do |name|
      client, socket = UNIXSocket.pair
      stream = Simpkv::Server::Watches::Stream.new(Simpkv::Clock.now + 600) { nil }
      stream.start(Simpkv::Server::Api::ChangeForms::Events, '', -> { gone << name })
      reactor.add(stream, connections.add(socket, :unix))
      [stream, client]
    end.transpose
    change = Simpkv::Change.new(:put, 'k' * 20_000, '1')
    reader = Thread.new { clients.last.readpartial(65_536) until gone.closed? }
    eventually { streams.each { |stream| stream.tell([change]) } && !gone.empty? }
    expect([gone.pop, gone.size]).to eq(['slow', 0])
  ensure
    gone&.close
    reactor&.stop
    reader&.kill
    clients&.each(&:close)
  end
end
