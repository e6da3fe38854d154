# frozen_string_literal: true

require 'fileutils'
require 'net/http'
require 'open3'
require 'stringio'
require 'tmpdir'
require_relative '../../../../spec/support/command'
require_relative 'server_helper'

RSpec.describe 'The connections of the service' do
  describe 'to many clients' do
    include_context 'with a service', '--bind', 'tcp://127.0.0.1:0', '--local-write'
    let(:section) { { 'max_connections' => 32 } }

    # @return [Array(String, String)] address and port
    def place
      service.addresses.grep(/tcp/).first[%r{//(.*)}, 1].split(':')
    end

    # @return [Integer] the open files of the service
    def files
      Dir.children("/proc/#{service.pid}/fd").length
    end

    def connections(name)
      client.get('/metrics').body[/^simpkv_http_connections_#{Regexp.escape(name)} (.*)$/, 1].to_f
    end

    # malloc makes a heap of 64 MiB for each arena but the first one, of which most is not accessible yet.
    #
    # @return [Integer]
    def heaps
      maps = File.readlines("/proc/#{service.pid}/maps").map { |line| line.match(/\A(\h+)-(\h+) (....)/).captures }
      maps.each_cons(2).count do |(from, _, access), (_, to, rest)|
        access == 'rw-p' && rest == '---p' && to.hex - from.hex == 64 * 1024 * 1024
      end
    end

    # There were as many as eight for each processor, and the memory of the service rose for hours.
    it 'are answered from two arenas of malloc, whatever number of threads answers' do
      clients = Array.new(12) do
        Thread.new { Net::HTTP.start(*place) { |http| Array.new(20) { http.get('/healthz').code } } }
      end
      expect([clients.flat_map(&:value).uniq, heaps]).to eq([['200'], 1])
    end

    it 'stay usable for others while one client opens 10,000 idle ones' do
      kept = UNIXSocket.new(service.socket)
      before = files
      answer = ask(kept)
      most = 0
      idle = Array.new(10_000) do |number|
        most = [most, files].max if (number % 100).zero?
        if (number % 1000).zero? # Often enough for a kept connection not to be idle for too long.
          expect([service.client('tcp').get('/healthz').status, ask(kept)]).to match([200, start_with('HTTP/1.1 200')])
        end
        TCPSocket.new(*place)
      end
      expect([most - before, ask(kept), answer]).to match([be <= 40, start_with('HTTP/1.1 200'),
                                                           start_with('HTTP/1.1 200')])
      expect(connections('open')).to be <= 32
      expect(connections('ended_total{reason="room"}')).to be > 5000
      eventually(errors: RuntimeError) { service.log.match?(/max_connections/) }
      expect(service.log.lines.grep(/max_connections/).length).to be_between(1, 3)
    ensure
      [kept, *idle].each { |socket| socket&.close }
    end

    # Sends a request, and keeps the connection.
    #
    # @return [String] the beginning of the response
    def ask(socket, line = 'GET /healthz', *headers)
      socket.write("#{["#{line} HTTP/1.1", 'Host: localhost', *headers].join("\r\n")}\r\n\r\n")
      socket.wait_readable(60) && socket.readpartial(65_536)
    end

    it 'take types of content from each request, not from the one before' do
      UNIXSocket.open(service.socket) do |socket|
        expect(ask(socket, 'HEAD /nodes', 'Accept: text/html')).to match(%r{^content-type: text/html}i)
        expect(ask(socket, 'GET /nodes x')).to match(%r{\AHTTP/1\.\d 400 .*^content-type: application/problem\+json}mi)
      end
    end

    it 'refuse a request whose length is given twice' do
      answer = client.exchange("PUT /v1/keys/a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 13\r\n" \
                               "Transfer-Encoding: chunked\r\n\r\nd\r\n{\"value\": 12}\r\n0\r\n\r\n")
      expect(answer).to have_attributes(status: 400, detail: include('Content-Length'),
                                        headers: include('connection' => 'close'))
      expect(client.get('/v1/keys/a').status).to eq(404)
    end

    it 'have the headers of all responses, also when Puma refuses a request' do
      ["GET / HTTP/1.1\r\nbad header\r\n\r\n", "GET / HTTP/1.1\r\nTransfer-Encoding: zip\r\n\r\n"].each do |bytes|
        expect(client.exchange(bytes).headers).to include('x-request-id', 'x-content-type-options',
                                                          'content-security-policy', 'cache-control' => 'no-store')
      end
    end
  end

  describe 'that clients keep' do
    slow = File.expand_path('../support/slow_puma', __dir__)
    include_context 'with a service', '--bind', 'tcp://127.0.0.1:0', '--local-write', env: { 'RUBYOPT' => "-r#{slow}" }

    it 'bring whole responses, whichever threads answer' do
      client.put('/v1/keys/a', 'value' => 1)
      host, port = service.addresses.grep(/tcp/).first[%r{//(.*)}, 1].split(':')
      clients = Array.new(4) do
        Thread.new do
          Array.new(20) do
            # Puma has taken the connection before the first request arrives.
            Net::HTTP.start(host, port) { |http| Array.new(25) { http.get('/v1/keys/a').body } }
          end
        end
      end
      expect(clients.flat_map(&:value).flatten.uniq.map { |body| JSON.parse(body)['value'] }).to eq([1])
    end
  end

  it 'need a process that may open enough files' do
    Dir.mktmpdir do |folder|
      file = File.join(folder, 'simpkv.yaml')
      options = { 'backends' => { 'default' => { 'type' => 'file', 'id' => 'x', 'root_path' => folder } },
                  'server' => { 'max_connections' => 500, 'bind' => ["unix://#{folder}/socket"] } }
      File.write(file, options.to_yaml)
      out, status = Open3.capture2e('prlimit', '--nofile=1000:1000', *Unbundled::COMMAND, 'serve', '-c', file)
      expect([out, status.exitstatus]).to match([include("'max_connections'", '1200 open files', 'LimitNOFILE'), 78])
    end
  end

  describe 'in the table' do
    let(:log) { StringIO.new }
    let(:lines) { Simpkv::Server::Log.new(log) }
    let(:connections) { Simpkv::Server::Connections.new(limit, lines) }
    let(:limit) { 2 }
    let(:ends) { [] }

    before { require 'simpkv/server' }

    after { ends.each(&:close) }

    # @return [Array(Connection, Socket)] an open connection, and the client's end
    def open_connection
      ours, theirs = UNIXSocket.pair
      ends.push(ours, theirs)
      [connections.add(ours, :unix), theirs]
    end

    it 'end in the order of their last request, and answer what has arrived before' do
      (first, client), (second,) = Array.new(2) { open_connection }
      second.arrived
      client.write('request')
      connections.make_room
      expect(first.read_nonblock(100)).to eq('request')
      expect { first.read_nonblock(100) }.to raise_error(EOFError)
      first.write('response')
      expect(client.readpartial(100)).to eq('response')
      expect(connections.stats).to eq([2, { room: 1, refused: 0, slow: 0 }])
    end

    it 'end if a request takes longer than 30 seconds to arrive, and each request has a time of its own' do
      connection, client = open_connection
      allow(Process).to receive(:clock_gettime).and_return(0, 29, 40, 69, 71)
      read = lambda do
        client.write('x')
        connection.read_nonblock(100)
      end
      expect([read.call, read.call]).to eq(%w[x x])
      connection.arrived
      expect([read.call, read.call]).to eq(%w[x x])
      expect { read.call }.to raise_error(Errno::ETIMEDOUT)
      expect(connections.stats).to eq([1, { room: 0, refused: 0, slow: 1 }])
    end

    # A client could send a byte of a TLS record now and then, forever.
    it 'end after 30 seconds, too, in which no whole record or handshake of TLS has arrived' do
      connection, = open_connection
      allow(Process).to receive(:clock_gettime).and_return(0, 29, 31)
      # So reads Puma's TLS.
      2.times { expect { connection.read_nonblock(100) }.to raise_error(IO::WaitReadable) }
      expect { connection.read_nonblock(100) }.to raise_error(Errno::ETIMEDOUT)
      expect(connections.stats.last).to include(slow: 1)
    end

    # Puma bounds the time between two parts of a response, and not that of a file.
    it 'end if their client falls behind 128 KiB a second by 30 seconds' do
      connection, client = open_connection
      now = 0
      allow(Process).to receive(:clock_gettime) { now }
      reader = Thread.new { now += 1 while client.readpartial(32_768) }
      reader.report_on_exception = false
      expect { connection.write('x' * 16_000_000) }.to raise_error(Errno::ETIMEDOUT)
      expect(now).to be > 30
      expect { connection << ('x' * 16_000_000) }.to raise_error(Puma::ConnectionError)
      expect(connection.wait_writable(10)).to be_nil
      connection.arrived
      expect(connection.write('x' * 500_000)).to eq(500_000)
    ensure
      reader&.kill&.join
    end

    # Puma must not put the text of an error into the middle of a file.
    it 'end without another word to a client that reads no file' do
      stub_const('Simpkv::Server::PacedWrites::SECONDS', 0.1)
      with_puma('x' * 4_000_000) do |socket|
        socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        socket.wait_readable(60)
        eventually { connections.stats.first.zero? }
        head, body = socket.read.split("\r\n\r\n", 2)
        expect([head, body, log.string]).to match([start_with('HTTP/1.1 200 OK'), /\Ax+\z/, ''])
        expect(body.bytesize).to be < 4_000_000
      end
    end

    # Runs Puma, which answers each request with a file.
    #
    # @yieldparam socket [UNIXSocket] a connection
    def with_puma(text, &block)
      Scratch.make('puma') do |folder|
        file, path = %w[file socket].map { |name| File.join(folder, name) }
        File.write(file, text)
        puma = Puma::Server.new(->(_env) { [200, {}, File.open(file)] }, nil,
                                log_writer: Puma::LogWriter.new(log, log), environment: 'production')
        puma.add_unix_listener(path)
        Simpkv::Server::Door.install(puma.binder, connections, ->(_env) { false })
        puma.run
        UNIXSocket.open(path, &block)
      ensure
        puma&.stop(true)
      end
    end

    it 'are refused as long as none is closed' do
      (first,), = Array.new(2) { open_connection }
      connections.make_room
      refused, client = open_connection
      expect([refused, client.read]).to eq([nil, ''])
      first.close
      expect(open_connection.first).not_to be_nil
      expect(connections.stats).to eq([2, { room: 1, refused: 1, slow: 0 }])
      lines.close
      expect(log.string.lines.length).to eq(1)
    end

    context 'of two clients' do
      let(:limit) { 3 }

      it 'end with those of the client that has the most' do
        server = TCPServer.new('127.0.0.1', 0)
        ends.push(server, remote = TCPSocket.new('127.0.0.1', server.local_address.ip_port), local = server.accept)
        connections.add(local, :tcp)
        (_, first), (_, second) = Array.new(2) { open_connection }
        connections.make_room
        expect([remote, first, second].map { |socket| finished?(socket) }).to eq([false, true, false])
      end
    end

    # @return [Boolean] whether the service reads the end of the connection, so that a Unix socket takes nothing more
    def finished?(socket)
      socket.write('x')
      false
    rescue Errno::EPIPE
      true
    end
  end
end
