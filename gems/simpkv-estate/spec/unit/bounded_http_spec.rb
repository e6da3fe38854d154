# frozen_string_literal: true

require 'simpkv'
require 'simpkv/estate/bounded_http'
require 'simpkv/cli'
require 'simpkv/cli/puppetdb/puppetdb'
require 'simpkv/termini/remote_query'
require_relative '../../../../spec/support/scratch'
require_relative '../../../../spec/support/trickling_server'

RSpec.describe Simpkv::BoundedHTTP do
  # Every byte begins Net::HTTP's limit of time anew.
  seconds = 1

  # Each is sent before bytes that never end.
  beginnings = { 'status line' => 'HTTP/1.1 2', 'header' => "HTTP/1.1 200 OK\r\nX: ",
                 'list of headers' => "HTTP/1.1 200 OK\r\n", 'body' => "HTTP/1.1 200 OK\r\n\r\n",
                 'body with its length' => "HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n",
                 'body of chunks' => "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                 'interim response' => "HTTP/1.1 100 Continue\r\n\r\n", 'handshake' => "\x16\x03\x03\x40\x00" }

  def get
    Net::HTTP::Get.new('/')
  end

  # @return [Float] the time that the block takes
  def time
    began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    yield
    Process.clock_gettime(Process::CLOCK_MONOTONIC) - began
  end

  beginnings.each do |what, beginning|
    it "ends an exchange in time whose #{what} trickles" do
      TricklingServer.run(beginning, bytes: what == 'list of headers' ? "A: b\r\n" : 'a') do |server|
        http = described_class.new('127.0.0.1', server.port, nil).bound(seconds, 1_000_000)
        http.use_ssl = what == 'handshake'
        expect(time { expect { http.exchange(get) }.to raise_error(Timeout::Error) }).to be_between(seconds, 20)
        expect(http).not_to be_started
      end
    end

    next if what == 'handshake'

    it "ends an exchange whose #{what} has too many bytes" do
      bytes = what == 'list of headers' ? "A: b\r\n" * 10_000 : 'a' * 60_000
      bytes = "ea60\r\n#{bytes}\r\n" if what == 'body of chunks'
      TricklingServer.run(beginning, bytes: bytes, pause: 0) do |server|
        http = described_class.new('127.0.0.1', server.port, nil).bound(600, 100_000)
        expect { http.exchange(get) }.to raise_error(described_class::TooLarge)
      end
    end
  end

  it 'counts each answer of a connection, and decompresses none' do
    whole = "HTTP/1.1 200 OK\r\nContent-Length: 600\r\n\r\n#{'x' * 600}"
    listener = TCPServer.new('127.0.0.1', 0)
    requests = Queue.new
    server = Thread.new do
      client = listener.accept
      3.times { client.write(whole) if requests.push(client.readpartial(65_536)) }
    end
    http = described_class.new('127.0.0.1', listener.local_address.ip_port, nil).bound(60, 1000)
    expect(Array.new(3) { http.exchange(get).body.length }).to eq([600] * 3)
    expect(requests.pop).to match(/^accept-encoding: identity\r$/i)
  ensure
    http&.finish
    server&.join
    listener&.close
  end

  describe Simpkv::Cli::PuppetDB do
    it 'is given up if its answer trickles' do
      stub_const("#{described_class}::ANSWER_TIMEOUT", seconds)
      TricklingServer.run("HTTP/1.1 200 OK\r\n\r\n{") do |server|
        puppetdb = described_class.new("http://127.0.0.1:#{server.port}")
        expect { puppetdb.version }.to raise_error(Simpkv::Cli::Failure, /its version: no whole answer in time/)
      end
    end
  end

  describe Simpkv::Termini::RemoteQuery do
    let(:head) { "HTTP/1.1 200 OK\r\n\r\n[" }

    def query(address)
      stub_const("#{described_class}::MORE", 1)
      described_class.new(address, {}, 0).rows('nodes {}')
    end

    it 'says that there is no whole answer, over a Unix socket and TCP' do
      Scratch.make('trickle') do |folder|
        { "unix://#{folder}/socket" => UNIXServer.new("#{folder}/socket"),
          'tcp://127.0.0.1:%d' => TCPServer.new('127.0.0.1', 0) }.each do |address, listener|
          TricklingServer.run(head, bytes: '1,', listener: listener) do |server|
            address = format(address, server.port) if address.include?('%')
            late = [Simpkv::UnavailableError, /no whole answer within 1/]
            expect(time { expect { query(address) }.to raise_error(*late) }).to be < 20
          end
        end
      end
    end

    it 'refuses an answer that is too large, or not JSON' do
      stub_const("#{described_class}::ANSWER_MAX", 1024 * 1024)
      TricklingServer.run(head, bytes: '1,' * 100_000, pause: 0) do |server|
        expect { described_class.new("tcp://127.0.0.1:#{server.port}", {}, 20).rows('nodes {}') }
          .to raise_error(Simpkv::TooLargeError, /more than 1 MiB: ask for less/)
      end
      answer = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n[pl4nted]"
      TricklingServer.run(answer) do |server|
        expect { query("tcp://127.0.0.1:#{server.port}") }
          .to raise_error(Simpkv::UnavailableError, /\A(?!.*pl4nted).*not JSON/)
      end
    end
  end
end
