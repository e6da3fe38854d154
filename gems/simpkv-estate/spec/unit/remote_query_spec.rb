# frozen_string_literal: true

require 'json'
require 'socket'
require 'simpkv/termini/remote_query'
require_relative '../../../../spec/support/scratch'

# On each Ruby: JRuby cannot answer queries itself. gems/simpkv-server/spec/query/function_spec.rb asks a service.
RSpec.describe Simpkv::Termini::RemoteQuery do
  around { |example| Scratch.make('remote') { |folder| (@folder = folder) && example.run } }

  # Serves one response on a Unix socket, or on a loopback port.
  #
  # @return [Array] the rows, and the request
  def ask(scheme, status, body, query = 'nodes { }', seconds: 20, &pause)
    server = scheme == 'unix' ? UNIXServer.new("#{@folder}/socket") : TCPServer.new('127.0.0.1', 0)
    address = scheme == 'unix' ? "unix://#{@folder}/socket" : "tcp://127.0.0.1:#{server.addr[1]}"
    request = nil
    thread = Thread.new { request = serve(server.accept, status, body, &pause) }
    rows = described_class.new(address, {}, seconds).rows(query)
    thread.join
    [rows, request]
  ensure
    server&.close
  end

  # @yield before the response
  # @return [String] the request
  def serve(socket, status, body)
    head = +''
    head << socket.gets until head.end_with?("\r\n\r\n")
    request = head + socket.read(Integer(head[/content-length: (\d+)/i, 1]))
    yield if block_given?
    socket.write("HTTP/1.1 #{status} X\r\nContent-Length: #{body.bytesize}\r\n\r\n#{body}")
    request
  ensure
    socket.close
  end

  %w[unix tcp].each do |scheme|
    it "asks over #{scheme}, as a client of PuppetDB" do
      rows, request = ask(scheme, 200, '[{"certname":"web1"}]', %w[from nodes])
      expect(rows).to eq([{ 'certname' => 'web1' }])
      expect(request).to start_with("POST /pdb/query/v4 HTTP/1.1\r\n")
        .and match(%r{^content-type: application/json\r$}i).and end_with('{"query":["from","nodes"]}')
    end
  end

  it 'has an error of the library for each answer' do
    { 400 => Simpkv::InvalidError, 403 => Simpkv::DeniedError, 503 => Simpkv::UnavailableError,
      500 => Simpkv::Error }.each do |status, error|
      expect { ask('tcp', status, 'the reason') }.to raise_error(error, /answers #{status}: the reason/)
    end
  end

  it 'says that nobody answers' do
    expect { described_class.new("unix://#{@folder}/nosuch", {}, 20).rows('nodes { }') }
      .to raise_error(Simpkv::UnavailableError, /does not answer.*simpkv serve/)
    silent = TCPServer.new('127.0.0.1', 0)
    Thread.new { silent.accept.close }
    expect { described_class.new("tcp://127.0.0.1:#{silent.addr[1]}", {}, 20).rows('nodes { }') }
      .to raise_error(Simpkv::UnavailableError, /does not answer/)
  ensure
    silent&.close
  end

  # It waited 60 seconds, whatever the service was told.
  it 'waits as long as the service may need with its query_seconds' do
    stub_const("#{described_class}::MORE", 0.1)
    silent = TCPServer.new('127.0.0.1', 0)
    expect { described_class.new("tcp://127.0.0.1:#{silent.addr[1]}", {}, 0.1).rows('nodes { }') }
      .to raise_error(Simpkv::UnavailableError, /does not answer.*no whole answer within 0\.4 s/)
    expect(ask('tcp', 200, '[]', seconds: 60) { sleep 0.5 }.first).to eq([])
  ensure
    silent&.close
  end

  it 'refuses other addresses' do
    ['http://127.0.0.1:8080', '/run/socket', 'tcp://127.0.0.1'].each do |address|
      expect { described_class.new(address, {}, 20).rows('nodes { }') }.to raise_error(Simpkv::ConfigError, /query_uri/)
    end
  end
end
