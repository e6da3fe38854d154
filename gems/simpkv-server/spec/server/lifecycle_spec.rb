# frozen_string_literal: true

require 'socket'
require_relative 'server_helper'

RSpec.describe 'The service' do
  include_context 'with a service', '--bind', 'tcp://127.0.0.1:0', '--local-write'

  it 'prints its addresses when it is ready, and ends with 0 after SIGTERM' do
    expect(service.addresses).to match([%r{\Atcp://127\.0\.0\.1:[1-9]\d*\z}, "unix://#{service.socket}"]).or(
      match(["unix://#{service.socket}", %r{\Atcp://127\.0\.0\.1:[1-9]\d*\z}])
    )
    expect(service.terminate).to eq(0)
  end

  it 'tells systemd that it is ready, and that it stops' do
    messages = Socket.new(:UNIX, :DGRAM)
    path = File.join(@root, 'notify')
    messages.bind(Addrinfo.unix(path, :DGRAM))
    notifying = Service.new(options, env: { 'NOTIFY_SOCKET' => path }).tap(&:start)
    notifying.terminate
    said = Array.new(2) { messages.wait_readable(30) && messages.recv(1000) }.join
    expect(said).to include('READY=1', 'STOPPING=1')
  ensure
    notifying&.stop
    messages&.close
  end

  # Each answer was 500, also of a PUT that had stored its key, and the index was never refreshed again.
  it 'answers, and refreshes its index, if no line of the log can be written' do
    mute = Service.new(options, errors: '/dev/full').tap(&:start)
    eventually(errors: RuntimeError) { mute.client.get('/readyz').data.dig('index', 'error') }
    make_estate
    expect(mute.client.put('/v1/keys/a', 'value' => 1).status).to eq(201)
    eventually(errors: RuntimeError) { mute.client.get('/readyz').data.dig('index', 'ok') }
    expect(mute.client.get('/healthz').status).to eq(200)
  ensure
    mute&.stop
  end

  it 'loses no request while SIGUSR2 starts it anew' do
    client = service.client('tcp')
    before = starts
    statuses = Queue.new
    ended = false
    clients = Array.new(4) do |number|
      Thread.new { statuses << client.put("/v1/keys/k#{number}", 'value' => statuses.length).status until ended }
    end
    eventually(errors: RuntimeError) { statuses.length > 20 }
    service.signal(:USR2)
    eventually(errors: RuntimeError) { starts > before }
    sleep 0.5 # Some more requests.
    ended = true
    clients.each(&:join)
    expect(Array.new(statuses.length) { statuses.pop }.uniq - [201, 204]).to eq([])
  end

  # @return [Integer] how often the service has become ready
  def starts
    service.log.scan('serving on tcp').length
  end

  it 'answers a running request after SIGTERM' do
    service.client('tcp').connect do |socket|
      body = '{"value":1}'
      socket.write("PUT /v1/keys/late HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" \
                   "Content-Length: #{body.bytesize}\r\n\r\n#{body}")
      expect(service.terminate).to eq(0)
      expect(socket.read).to start_with('HTTP/1.1 201')
    end
  end

  it 'leaves no half-written key if it is killed' do
    client = service.client('tcp')
    value = 'x' * 10_000
    writers = Array.new(4) do |number|
      Thread.new do
        1.step { |count| client.put("/v1/keys/k#{number}", 'value' => "#{value}#{count}") }
      rescue SystemCallError, ServiceClient::Closed, EOFError
        nil
      end
    end
    eventually(errors: RuntimeError) { store.list('environments/production', required: false)[:keys].length == 4 }
    service.signal(:KILL)
    Process.wait(service.pid)
    writers.each(&:join)
    keys = store.list('environments/production') { |_, document| JSON.parse(document)['value'][0, value.length] }[:keys]
    expect(keys.values).to eq([value] * 4)
    service.start
    expect(service.client.get('/v1/keys/k0').status).to eq(200)
  end

  it 'says that the store cannot be reached, and when to ask again' do
    client = service.client('tcp')
    expect(client.get('/readyz').data).to include('status' => 'ok')
    File.rename(@root, "#{@root}.away")
    expect(client.get('/readyz')).to have_attributes(status: 503, data: include('status' => 'unavailable'))
    expect(client.get('/healthz').status).to eq(200)
    expect(client.get('/v1/keys/a').status).to be >= 500
    expect(client.get('/readyz').headers).to include('retry-after')
    File.rename("#{@root}.away", @root)
    expect(client.get('/readyz').status).to eq(200)
  end

  it 'takes a folder whose file system is not mounted for no store' do
    client = service.client('tcp')
    make_estate
    client.put('/v1/keys/a', 'value' => 1)
    client.get('/v1/nodes')
    File.rename(@root, "#{@root}.away")
    Dir.mkdir(@root)
    answers = [client.get('/v1/keys/a'), client.get('/v1/keys/?values=false'), client.put('/v1/keys/a', 'value' => 2),
               client.delete('/v1/keys/a'), client.get('/v1/nodes'), client.delete('/v1/inspection_rules')]
    expect(answers).to all(have_attributes(status: 503, headers: include('retry-after')))
    expect(Dir.children(@root)).to eq([])
    Dir.rmdir(@root)
    File.rename("#{@root}.away", @root)
    expect(client.get('/v1/keys/a').data['value']).to eq(1)
  end

  context 'with a directory' do
    include_context 'with slapd'
    let(:backends) do
      { 'default' => directory.options('type' => 'ldap', 'id' => id, 'operation_timeout_seconds' => 2) }
    end
    let(:store) { open_store }

    it 'answers 503 while the server is down, and works when it is back' do
      client = service.client('tcp')
      client.put('/v1/keys/a', 'value' => 1)
      directory.stop_serving
      expect(client.get('/v1/keys/a')).to have_attributes(status: 503, headers: include('retry-after'))
      expect(client.get('/readyz').status).to eq(503)
      directory.launch
      eventually(errors: RuntimeError) { client.get('/v1/keys/a').status == 200 }
    end

    it 'answers 503 at the deadline while the server does not answer, and other requests meanwhile' do
      client = service.client('tcp')
      client.put('/v1/keys/a', 'value' => 1)
      directory.freeze_process do
        began = now
        readers = Array.new(20) { Thread.new { service.client('tcp').get('/v1/keys/a').status } }
        expect(readers.map(&:value).uniq).to eq([503])
        expect([client.get('/readyz'), client.get('/metrics'), client.get('/healthz')].map(&:status))
          .to eq([503, 200, 200])
        expect(now - began).to be < 24
      end
      eventually(errors: RuntimeError) { client.get('/v1/keys/a').status == 200 }
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
