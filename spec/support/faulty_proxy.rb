# frozen_string_literal: true

require 'socket'
require_relative 'ldap_request'

# A network that fails: stands between a client and a directory server, and does something to the bytes that one says to
# the other, from a chosen one on. Lives in threads of this process.
#
#   proxy.arm(:reset, :down, 17) # 17 bytes of answers arrive, then the connection is reset
class FaultyProxy
  # What it can do, each once:
  # delay::    what comes then is {DELAY} late
  # stall::    nothing passes any more, and nobody hangs up, until {#heal}
  # cut::      both sides are told that the other one has hung up
  # reset::    both sides are told that the connection is broken
  # truncate:: what was to be passed on then is lost, what comes later is not
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

  # @return [String] as that of the server
  def uri
    "#{@scheme}://127.0.0.1:#{@listener.addr[1]}"
  end

  # @param direction [:up, :down] what the client says, or what the server does
  # @param byte [Integer] after so many more
  def arm(fault, direction, byte)
    @lock.synchronize { @armed = [fault, direction, @passed[direction] + byte] }
  end

  # From now on, some requests reach the server after their client has lost the connection: the proxy cuts it, and
  # passes the request on after.
  #
  # @param kinds [Array<Symbol>] of requests, of {LdapRequest}
  # @param share [Numeric] how many of these, at most 1
  # @param seconds [Range<Float>] how late
  def deliver_late(kinds, share, seconds = 0.02..0.15)
    @lock.synchronize { @late = [kinds, share, seconds] }
  end

  # @return [Integer] how many requests were delivered so
  def delivered_late
    @lock.synchronize { @delivered_late }
  end

  # @return [Boolean] whether it has not come to that yet
  def armed?
    @lock.synchronize { !@armed.nil? }
  end

  # Lets all pass again, and breaks the connections that stall.
  #
  # @return [Boolean] whether it had come to what it was armed for
  def heal
    @lock.synchronize do
      came = @armed.nil?
      @armed = nil
      @stalled.shift.close until @stalled.empty?
      came
    end
  end

  # @return [Hash{Symbol => Integer}] how many bytes passed while the block ran, by direction
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
    # It was stopped.
  end

  # Until one of both hangs up; a server that is down does so at once.
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

  # The server's side stays open until it has answered.
  def late(link, server, request)
    link.client.close
    sleep(rand(@lock.synchronize { @late.last }))
    server.write(request)
    server.readpartial(65_536)
    raise IOError, 'it was delivered late'
  end

  # Whether what it is armed for happens to these bytes, and how many of them pass before.
  def due(link, direction, length)
    @lock.synchronize do
      passed = @passed[direction]
      @passed[direction] += length
      fault, where, byte = @armed
      next unless where == direction && byte < passed + length

      @armed = nil
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

# For specs with a directory: stores behind proxies.
RSpec.shared_context 'with proxies' do
  # Threads make them, too.
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
