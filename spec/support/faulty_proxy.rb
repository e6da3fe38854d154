# frozen_string_literal: true

require 'socket'
require_relative 'ldap_request'

# A proxy between a client and a directory server that injects a network fault from a chosen byte of one direction on.
# It runs in threads of this process.
#
#   proxy.arm(:reset, :down, 17) # 17 bytes of answers arrive, then the connection is reset
class FaultyProxy
  # The faults, each injected once:
  # delay::    delivers the next bytes {DELAY} late
  # stall::    passes nothing and keeps the connections open, until {#heal}
  # cut::      closes the connections to both sides
  # reset::    resets the connections to both sides
  # truncate:: drops the rest of the current bytes, and passes later ones
  FAULTS = %i[delay stall cut reset truncate].freeze
  DELAY = 0.1 # seconds

  # A connection: the two sockets.
  Link = Struct.new(:client, :server) do
    def close
      [client, server].each(&:close)
    end
  end
  private_constant :Link

  # @param uri [String] of the server, ldap or ldaps, on loopback
  def initialize(uri)
    @scheme, @port = uri.match(%r{\A(ldaps?)://127\.0\.0\.1:(\d+)\z}).captures
    @listener = TCPServer.new('127.0.0.1', 0)
    @lock = Mutex.new
    @passed = { up: 0, down: 0 }
    @stalled = []
    @late = [[], 0, 0..0]
    @delivered_late = 0
    Thread.new { accept }
  end

  # @return [String] the URI of the proxy, in the form of the server's
  def uri
    "#{@scheme}://127.0.0.1:#{@listener.addr[1]}"
  end

  # @param direction [:up, :down] from the client, or from the server
  # @param byte [Integer] the number of bytes that pass before the fault
  def arm(fault, direction, byte)
    @lock.synchronize do
      @injected_at = nil
      @armed = [fault, direction, @passed[direction] + byte]
    end
  end

  # From now on, the proxy delivers some requests late: it closes the client's connection first, and then passes the
  # request to the server.
  #
  # @param kinds [Array<Symbol>] the kinds of requests, from {LdapRequest}
  # @param share [Numeric] the share of these requests to deliver late, at most 1
  # @param seconds [Range<Float>] the delay
  def deliver_late(kinds, share, seconds = 0.02..0.15)
    @lock.synchronize { @late = [kinds, share, seconds] }
  end

  # @return [Integer] the number of requests that were delivered late
  def delivered_late
    @lock.synchronize { @delivered_late }
  end

  # @return [Float, nil] when the last fault was injected (CLOCK_MONOTONIC); nil until then
  def injected_at
    @lock.synchronize { @injected_at }
  end

  # @return [Boolean] true until the fault has been injected
  def armed?
    @lock.synchronize { !@armed.nil? }
  end

  # Disarms the proxy and closes the stalled connections.
  #
  # @return [Boolean] true if the fault was injected
  def heal
    @lock.synchronize do
      came = @armed.nil?
      @armed = nil
      @stalled.shift.close until @stalled.empty?
      came
    end
  end

  # @return [Hash{Symbol => Integer}] the number of bytes that passed while the block ran, by direction
  def traffic
    before = @lock.synchronize { @passed.dup }
    yield
    @lock.synchronize { @passed.to_h { |direction, count| [direction, count - before[direction]] } }
  end

  def stop
    @listener.close
    heal
  end

  private

  def accept
    loop do
      client = @listener.accept
      Thread.new { serve(client) }
    end
  rescue IOError
    # The proxy was stopped.
  end

  # Relays until one side closes the connection; the connection of a stopped server closes at once.
  def serve(client)
    link = Link.new(client, TCPSocket.new('127.0.0.1', @port))
    link.each { |socket| socket.setsockopt(:TCP, :NODELAY, 1) }
    loop do
      ready, = IO.select(link.to_a)
      ready.each { |from| from == link.client ? pass(link, :up) : pass(link, :down) }
    end
  rescue IOError, SystemCallError
    link ? link.close : client.close
  end

  def pass(link, direction)
    from, to = direction == :up ? [link.client, link.server] : [link.server, link.client]
    bytes = from.readpartial(65_536)
    return late(link, to, bytes) if late?(direction, bytes)

    fault, before = due(link, direction, bytes.bytesize)
    to.write(fault ? bytes.byteslice(0, before) : bytes)
    send(fault, link, to, bytes.byteslice(before..)) if fault
  end

  def late?(direction, bytes)
    return false unless direction == :up

    @lock.synchronize do
      kinds, share = @late
      late = kinds.any? && kinds.include?(LdapRequest.kind(bytes)) && rand < share
      @delivered_late += 1 if late
      late
    end
  end

  # The server's connection stays open until the server has responded.
  def late(link, server, request)
    link.client.close
    sleep(rand(@lock.synchronize { @late.last }))
    server.write(request)
    server.readpartial(65_536)
    raise IOError, 'it was delivered late'
  end

  # @return [Array(Symbol, Integer), nil] the fault to inject into these bytes, and the number of them that pass before
  def due(link, direction, length)
    @lock.synchronize do
      passed = @passed[direction]
      @passed[direction] += length
      fault, where, byte = @armed
      next unless where == direction && byte < passed + length

      @armed = nil
      @injected_at = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      @stalled << link if fault == :stall
      [fault, byte - passed]
    end
  end

  def delay(_link, receiver, rest)
    sleep(DELAY)
    receiver.write(rest)
  end

  def stall(link, _receiver, _rest)
    sleep(0.01) until link.client.closed?
    raise IOError, 'it was healed'
  end

  def cut(_link, _receiver, _rest)
    raise IOError, 'it is cut'
  end

  def reset(link, _receiver, _rest)
    link.each { |socket| socket.setsockopt(Socket::Option.linger(true, 0)) }
    raise IOError, 'it is reset'
  end

  def truncate(_link, _receiver, _rest); end
end

# Opens stores behind proxies, for specs with a directory.
RSpec.shared_context 'with proxies' do
  # Threads start proxies, too.
  let(:proxies) { Queue.new }

  after { proxies.pop.stop until proxies.empty? }

  # @param uri [String] of the server
  # @return [FaultyProxy]
  def new_proxy(uri = directory.tcp_uri)
    FaultyProxy.new(uri).tap { |proxy| proxies << proxy }
  end

  # @return [Simpkv::Store] with connections of its own, through the proxy
  def open_behind(proxy, options = {})
    open_apart({ 'ldap_uri' => proxy.uri }.merge(options))
  end
end
