# frozen_string_literal: true

require 'securerandom'
require_relative '../../../../spec/support/certificates'
require_relative 'server_helper'

# The two examples that take half a minute come last, because what they wait for begins with the first one.
RSpec.describe 'The service', order: :defined do
  include_context 'with a service for all examples', '--bind', 'tcp://127.0.0.1:0', '--local-write'

  let(:client) { service.client('tcp') }

  before { trickle && unread }

  # Sends a request byte by byte, until the service answers or ends the connection.
  #
  # @return [Thread] its value is the response, and the seconds that it took
  def trickle
    @kept[:trickle] ||= Thread.new(client) do |client|
      client.connect do |socket|
        began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
        socket.write("GET / HTTP/1.1\r\nX: ")
        socket.write('a') until socket.wait_readable(1)
        [socket.read, Process.clock_gettime(Process::CLOCK_MONOTONIC) - began]
      end
    end
  end

  # Does not read a large response of a service with one thread.
  #
  # @return [Thread] its value is the status of the response to another client meanwhile
  def unread
    @kept[:unread] ||= Thread.new(File.join(@kept.fetch(:folder), 'unread')) do |folder|
      Dir.mkdir(folder)
      ca = Certificates.new(folder)
      Service.run(over_tls(folder, ca), '--bind', 'ssl://127.0.0.1:0') { |tls| status_beside_unread(tls, ca) }
    end
  end

  def over_tls(folder, certificates)
    cert, key = certificates.issue('127.0.0.1')
    root = File.join(folder, 'store').tap { |name| Simpkv::Store.open('file', 'root_path' => name).close }
    { 'backends' => { 'default' => { 'type' => 'file', 'id' => 'unread', 'root_path' => root } },
      'server' => { 'tls_cert' => cert, 'tls_key' => key, 'tls_ca' => certificates.cacert, 'threads' => 1,
                    'rights' => [{ 'certname' => 'reader.example.com', 'methods' => ['GET'], 'paths' => ['/**'] }] } }
  end

  def status_beside_unread(tls, certificates)
    12.times { |number| tls.client.put("/v1/keys/large/k#{number}", 'value' => 'x' * 900_000) }
    cert, key = certificates.issue(subject: 'reader.example.com', names: nil)
    tls.client('ssl', ca: certificates.cacert, cert: cert, key: key).connect do |socket|
      socket.write("GET /v1/keys/large/ HTTP/1.1\r\nHost: localhost\r\n\r\n")
      socket.to_io.wait_readable(60)
      sleep 1 # The only thread waits for this client.
      tls.client.get('/healthz').status
    end
  end

  def still_serves
    expect(client.get('/healthz').status).to eq(200)
  end

  it 'refuses a body of more than 1 MiB, with and without its length' do
    large = JSON.generate('value' => 'pl4nted-' * 200_000)
    expect(client.exchange("PUT /v1/keys/a HTTP/1.1\r\nHost: localhost\r\nContent-Length: #{large.bytesize}\r\n" \
                           "Connection: close\r\n\r\n#{large}").status).to eq(413)
    chunked = "#{large.bytesize.to_s(16)}\r\n#{large}\r\n0\r\n\r\n"
    expect(client.exchange("PUT /v1/keys/a HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n" \
                           "Connection: close\r\n\r\n#{chunked}").status).to eq(413)
    expect(client.get('/v1/keys/a').status).to eq(404)
    expect(service.log).not_to include('pl4nted')
    still_serves
  end

  it 'refuses oversized headers and lines' do
    # They were all a "malformed or oversized request".
    ["/?query=#{'a' * 11_000}", "/#{'a' * 9000}"].each do |address|
      expect(client.get(address)).to have_attributes(status: 414, detail: start_with('the address is too long'))
    end
    expect(client.get('/', 'X' => 'a' * 90_000)).to have_attributes(status: 431, detail: include('the headers'))
    expect(client.exchange("BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n"))
      .to have_attributes(status: 501, detail: start_with('the method of the request'))
    ['a' * 100_000, " HTTP/1.1\r\nHost: localhost\r\nX: #{'a' * 200_000}"].each do |head|
      answer = client.exchange("GET /#{head}\r\n\r\n")
      expect(answer.nil? || answer.status >= 400).to be(true)
    end
    still_serves
  end

  it 'answers others while clients send slowly' do
    sockets = Array.new(64) do
      address, port = service.addresses.grep(/tcp/).first[%r{//(.*)}, 1].split(':')
      TCPSocket.new(address, port).tap do |socket|
        socket.write("PUT /v1/keys/a HTTP/1.1\r\nHost: localhost\r\nContent-Le")
      end
    end
    10.times { still_serves }
  ensure
    sockets&.each(&:close)
  end

  it 'goes on if clients do not wait for their responses' do
    service.client.put('/v1/keys/large', 'value' => 'x' * 1_000_000)
    [service.client, client].each do |each|
      each.connect do |socket|
        socket.write("GET /v1/keys/large HTTP/1.1\r\nHost: localhost\r\n\r\n")
        expect(socket.wait_readable(30) && socket.readpartial(100)).to start_with('HTTP/1.1 200')
      end
      still_serves
    end
    still_serves
  end

  it 'answers nested JSON of any depth with a problem' do
    [50, 200, 100_000].each do |depth|
      status = client.put('/v1/keys/a', "{\"value\":#{'[' * depth}#{']' * depth}}").status
      expect(status).to eq(depth == 50 ? 201 : 400)
    end
    still_serves
  end

  # Puma fails at it with a NoMethodError.
  it 'refuses a chunked body whose trailer arrives in parts' do
    head = "PUT /v1/keys/a HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    answer = client.exchange("#{head}c\r\n{\"value\": 1}\r\n0\r\nX-Trailer: pl4nted\r\n")
    expect(answer).to have_attributes(status: 400, detail: include('malformed'))
    expect(client.get('/v1/keys/a').status).to eq(404)
    expect(service.log).not_to match(/pl4nted|internal error/)
  end

  # Puma fails at them with a RangeError, an ArgumentError and others: they were answered with 500.
  it 'refuses chunks without a usable size' do
    head = "PUT /v1/keys/a HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    sizes = ['1' * 17, 'f' * 16, '7fffffffffffffff', '7ffffffffffffffe', "#{'f' * 1000};x=y", '', ' ', ';', ';x', '-1',
             '0x1', '+1', "1\x00", "\xff", "1\n"]
    sizes.product(['', "{\r\n0\r\n\r\n"]) do |size, rest|
      answer = client.exchange("#{head}#{size}\r\n#{rest}", last: true)
      expect([size, answer&.status.to_i]).to match([size, be < 500])
    end
    expect(client.exchange("#{head}#{'1' * 17}\r\n"))
      .to have_attributes(status: 400, detail: start_with('malformed request: a chunk of its body'))
    expect(service.log).not_to include('internal error')
    still_serves
  end

  # All of them answered "malformed request", and nothing more.
  it 'says what is wrong with a malformed request, and what it must be' do
    host = "Host: localhost\r\n"
    put = "PUT /v1/keys/a HTTP/1.1\r\n#{host}"
    get = "GET / HTTP/1.1\r\n#{host}"
    { "get / HTTP/1.1\r\n#{host}" => 'capital letters', "G\u00e9T / HTTP/1.1\r\n#{host}" => 'capital letters',
      "#{'A' * 21} / HTTP/1.1\r\n#{host}" => 'at most 20', "GET a HTTP/1.1\r\n#{host}" => "begins with '/'",
      "GET /<a> HTTP/1.1\r\n#{host}" => 'such as %20', "GET /a b HTTP/1.1\r\n#{host}" => 'such as %20',
      "GET /?a=\"b\" HTTP/1.1\r\n#{host}" => 'such as %20', "GET / HTTP/x\r\n#{host}" => 'METHOD PATH HTTP/1.1',
      "GET / FTP/1.1\r\n#{host}" => 'METHOD PATH HTTP/1.1', "GET /\r\n#{host}" => 'METHOD PATH HTTP/1.1',
      "GET / HTTP/1.1\n#{host}" => 'METHOD PATH HTTP/1.1',
      "\x16\x03\x01\x02\x00\r\n" => 'ssl://', "hello\r\n" => 'ssl://',
      "#{get}X : a\r\n" => 'before the colon', "#{get}X\r\n" => "'Name: value'", "#{get}X: \x01\r\n" => 'control char',
      "#{get} folded\r\n" => "'Name: value'", "#{put}Content-Length: x\r\n" => 'one whole number',
      "#{put}Content-Length: -1\r\n" => 'one whole number', "#{put}Transfer-Encoding: gzip\r\n" => 'must be chunked',
      "#{put}Content-Length: 1\r\nContent-Length: 2\r\n" => 'one whole number',
      "#{put}Transfer-Encoding: chunked, chunked\r\n" => 'must be chunked, once',
      "GET /v1/keys/a?b=%zz HTTP/1.1\r\n#{host}Connection: close\r\n" => "each '%'" }.each do |head, why|
      expect([head, client.exchange("#{head}\r\n".b).detail]).to match([head, include(why)])
    end
    expect(client.exchange("GET /pdb/query/v4 x HTTP/1.1\r\n#{host}\r\n")) # It was a problem in JSON.
      .to have_attributes(headers: include('content-type' => 'text/plain;charset=utf-8'), body: include('such as %20'))
  end

  # A page of another site cannot send it, but a proxy can.
  it 'refuses an address in the request line with another host than the header' do
    ask = ->(target, host) { client.exchange("GET #{target} HTTP/1.1\r\n#{host}Connection: close\r\n\r\n") }
    local = "Host: localhost\r\n"
    %w[http://other.example.com/healthz http://localhost.example.com/healthz http://other@localhost/healthz
       http://localhost:1/healthz HTTPS://other/healthz ftp://other/ mailto:a@other].each do |target|
      expect(ask.call(target, local)).to have_attributes(status: 400)
    end
    expect(ask.call('http://other/healthz', "Host: other\r\n").status).to eq(421)
    expect(ask.call('http://localhost/healthz', '').status).to eq(400)
    same = %w[http://localhost/healthz http://LOCALHOST/healthz /healthz]
    expect(same.map { |target| ask.call(target, local).status }).to eq([200, 200, 200])
  end

  it 'answers addresses of any form in the request line without an error of its own' do
    ['http://', 'http://[::1', 'http://localhost:99999999/', 'http://localhost:x/', 'mailto:', 'mailto:x', 'urn:',
     'ldap://localhost/dc=x??y', 'ftp://localhost/x;type=z', 'http:opaque', '//x', '//localhost/healthz', '*', '?', '#',
     '/#x', 'http://localhost?x', 'http://localhost'].each do |target|
      answer = client.exchange("GET #{target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
      expect([target, answer.status]).to match([target, be < 500])
    end
    expect(service.log).not_to include('internal error')
  end

  # Without an estate, a request that happens to be well-formed may ask for one, and get 500.
  it 'answers malformed requests, and shows no byte of them in its log' do
    make_estate
    random = Random.new(RSpec.configuration.seed)
    requests = Integer(ENV.fetch('MALFORMED', '8000'))
    statuses = Array.new(requests) { |number| client.exchange(malformed(random, number), last: true)&.status.to_i }
    expect(statuses.grep(500)).to eq([])
    expect(service.log.lines.grep(/pl4nted|internal error/)).to eq([])
    still_serves
  end

  # A request that is cut, changed, or made of wrong parts.
  def malformed(random, number)
    methods = %w[GET PUT POST PATCH DELETE FOO]
    targets = %w[/v1/keys/a /v1/inspection_rules /v1/nodes/x/inspection / * http://x/ /v1/keys?a[b]=1 /%]
    method, target, length = [methods, targets, [0, 30, 99_999]].map { |choices| choices.sample(random: random) }
    whole = "#{method} #{target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" \
            "Content-Length: #{length}\r\n\r\n{\"value\":\"pl4nted-bytes\"}"
    case number % 6
    when 0 then "#{whole.byteslice(0, random.rand(whole.bytesize))}\r\n\r\n"
    when 1 then whole.dup.tap { |text| text.setbyte(random.rand(text.bytesize), random.rand(256)) }
    when 2 then "#{random.bytes(random.rand(200))}\r\n\r\n"
    when 3 then chunked(whole, random)
    when 4 then whole.sub('Content-Length', "Transfer-Encoding: chunked\r\nContent-Length")
    else whole.sub('Content-Length: 99999', 'Content-Length: 3')
    end
  end

  # A request with a chunk, which is cut.
  def chunked(whole, random)
    size = ['1', '0', random.bytes(2), random.rand(2**80).to_s(16)].sample(random: random)
    whole = whole.sub(/Content-Length: \d+/, 'Transfer-Encoding: chunked').sub('{', "#{size}\r\n{\r\n0\r\nX: ".b)
    whole.byteslice(0, random.rand(whole.bytesize))
  end

  it 'ends a request that does not arrive within 30 seconds, byte by byte' do
    response, seconds = trickle.value
    expect(response).to eq('').or(start_with('HTTP/1.1 408'))
    expect(seconds).to be_between(25, 45)
  end

  it 'ends a connection whose client does not read its response within 30 seconds, so that others are answered' do
    expect(unread.value).to eq(200)
  end
end

RSpec.describe 'The service, without free files,' do
  include_context 'with a service', '--bind', 'tcp://127.0.0.1:0', '--local-write'

  let(:client) { service.client('tcp') }

  it 'logs little while clients hold all connections that it may have, and serves afterwards' do
    address, port = service.addresses.grep(/tcp/).first[%r{//(.*)}, 1].split(':')
    system('prlimit', '--pid', service.pid.to_s, '--nofile=64', exception: true)
    sockets = Array.new(100) { TCPSocket.new(address, port) }
    eventually(errors: RuntimeError) { service.log.include?('too many connections') }
    sleep 3
    expect(service.log.lines.grep(/EMFILE/).length).to be_between(1, 6)
    sockets.each(&:close)
    eventually(errors: StandardError) { client.get('/healthz').status == 200 }
  end
end
