# frozen_string_literal: true

require_relative 'burst_proxy'

# A proxy between a client and a directory server that counts how many requests the client sends before it waits. Over
# TLS, it counts records.
class InFlightProxy < BurstProxy
  # @param uri [String] of the server, ldap or ldaps, on loopback
  # @param delay [Numeric] the seconds by which it delivers the server's responses late
  def initialize(uri, delay: 0)
    @delay = delay
    @most = 0
    super(uri)
  end

  # @return [Integer] the most requests that a client sent on one connection while the block ran, without a byte of the
  #   server between them
  def most_at_once
    @lock.synchronize { @most = 0 }
    yield
    @lock.synchronize { @most }
  end

  private

  def serve(client)
    server = TCPSocket.new('127.0.0.1', @port)
    received = String.new
    at_once = 0
    loop do
      ready, = IO.select([client, server])
      at_once = 0 if ready.include?(server) && deliver(server, client)
      next unless ready.include?(client)

      received << client.readpartial(65_536)
      while (message = whole_message(received))
        note(at_once += 1)
        server.write(message)
      end
    end
  rescue IOError, SystemCallError
    [client, server].compact.each(&:close)
  end

  def deliver(server, client)
    bytes = server.readpartial(65_536)
    sleep(@delay)
    client.write(bytes)
  end

  def whole_message(bytes)
    @scheme == 'ldaps' ? whole_record(bytes) : whole_request(bytes)
  end

  # Removes the first TLS record: a byte for its type, two for the version, two for the length, and so many more bytes.
  def whole_record(bytes)
    return if bytes.bytesize < 5

    size = 5 + bytes.byteslice(3, 2).unpack1('n')
    bytes.slice!(0, size) if bytes.bytesize >= size
  end

  def note(at_once)
    @lock.synchronize { @most = at_once if at_once > @most }
  end
end
