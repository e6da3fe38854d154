# frozen_string_literal: true

require_relative '../../../../spec/support/certificates'
require_relative '../../../../spec/support/kept_connection'
require_relative 'server_helper'

RSpec.describe 'The restart of the service' do
  # @return [Integer] how often the service has become ready
  def starts
    service.log.scan('serving on unix').length
  end

  # Starts the service anew, and waits until it is ready.
  def restart
    before = starts
    service.signal(:USR2)
    eventually(within: 60, errors: RuntimeError) { starts > before }
  end

  # Sends signals again and again until the block returns true, or the service has ended.
  def keep_sending(*signals)
    eventually(within: 60, errors: RuntimeError) do
      10.times do
        signals.each { |signal| service.signal(signal) }
        sleep 0.005
      end
      yield || ended?
    end
    expect(ended?).to be(false)
  end

  # @return [Boolean] whether the service has ended. It stays a zombie, which takes signals
  def ended?
    File.read("/proc/#{service.pid}/stat")[/\) (\w)/, 1] == 'Z'
  end

  context 'with local clients' do
    include_context 'with a service', '--bind', 'tcp://127.0.0.1:0', '--local-write'

    # The default action of these signals ended it, and systemd took that for a clean exit.
    it 'survives SIGHUP, SIGUSR1 and SIGUSR2 at any moment' do
      service.client
      service.signal(:USR2)
      keep_sending(:HUP, :USR1, :USR2) { starts > 1 }
      eventually(within: 60, errors: RuntimeError) { client.get('/healthz').status == 200 }
      expect(ended?).to be(false)
    end

    it 'obeys SIGHUP that arrives before it is ready' do
      service.client
      service.signal(:USR2)
      keep_sending(:HUP) { starts > 1 }
      eventually(errors: RuntimeError) { service.log.split('serving on').last.include?('were read again') }
    end

    it 'does not happen if SIGTERM arrives while connections end for it' do
      service.client
      UNIXSocket.open(service.socket) do |silent|
        service.signal(:USR2)
        eventually(errors: RuntimeError) { service.log.include?('starts anew') }
        expect(service.terminate).to eq(0)
        expect(silent.read).to eq('')
      end
      expect([File.exist?(service.socket), starts]).to eq([false, 1])
    end

    # Of 20 clients, 27 PUTs were lost.
    it 'loses no request of clients that keep their connections' do
      expect(lost_while_restarting { UNIXSocket.new(service.socket) }).to eq([])
    end

    it 'says with a response that the connection ends' do
      kept = Array.new(2) { KeptConnection.new { UNIXSocket.new(service.socket) } }
      kept.each { |each| each.put('/v1/keys/a', '{"value":1}') }
      service.signal(:USR2)
      eventually(errors: RuntimeError) { service.log.include?('starts anew') }
      expect(kept.map { |each| each.put('/v1/keys/a', '{"value":2}') }).to eq([204, 204])
      expect(kept.map(&:open?)).to eq([false, false])
      eventually(within: 60, errors: RuntimeError) { starts > 1 }
    end

    it 'waits no longer for connections without requests than they may be idle' do
      service.client
      UNIXSocket.open(service.socket) do |silent|
        restart
        expect(silent.read).to eq('')
      end
    end
  end

  context 'with a slow shutdown of Puma' do
    slow = File.expand_path('../support/slow_shutdown', __dir__)
    include_context 'with a service', env: { 'RUBYOPT' => "-r#{slow}" }

    # The new program never learned of it, and was killed later.
    it 'does not happen if SIGTERM arrives at the end' do
      service.client
      service.signal(:USR2)
      eventually(errors: RuntimeError) { service.log.include?('the pool of threads ends') }
      expect(service.terminate).to eq(0)
      expect([File.exist?(service.socket), starts]).to eq([false, 1])
    end
  end

  context 'with clients over TLS' do
    include_context 'with a service', '--bind', 'ssl://127.0.0.1:0'

    let(:certificates) { Certificates.new(@root) }
    let(:section) do
      cert, key = certificates.issue('127.0.0.1')
      { 'tls_cert' => cert, 'tls_key' => key, 'tls_ca' => certificates.cacert,
        'rights' => [{ 'certname' => 'writer', 'methods' => %w[PUT], 'paths' => ['/v1/keys/**'] }] }
    end

    it 'loses no request of clients that keep their connections' do
      cert, key = certificates.issue(subject: 'writer', names: nil)
      client = service.client('ssl', ca: certificates.cacert, cert: cert, key: key)
      expect(lost_while_restarting { client.open }).to eq([])
    end
  end

  # @return [Array] the number and the status of each request of 20 clients that got no success
  def lost_while_restarting(&open)
    service.client
    counts = Array.new(20, 0)
    clients = Array.new(20) do |number|
      Thread.new { failures_of(KeptConnection.new(&open), number, counts) }
    end
    progress(counts)
    2.times { restart }
    progress(counts)
    counts.push(nil)
    clients.flat_map(&:value)
  end

  # Sends requests until the list of counts has another member.
  def failures_of(client, number, counts)
    failed = []
    until counts.length > 20
      status = client.put("/v1/keys/k#{number}", JSON.generate('value' => counts[number] += 1))
      failed << [number, status] unless [201, 204].include?(status)
    end
    client.drop
    failed
  end

  # Waits until each client has had some answers.
  def progress(counts)
    before = counts.dup
    eventually(errors: RuntimeError) { counts.zip(before).all? { |now, then_| now > then_ + 5 } }
  end
end
