# frozen_string_literal: true

require_relative 'faulty_proxy'

# A proxy between a client and a directory server that counts round trips. It holds the requests of each burst until all
# of them have come, and only then passes them to the server. A client that waits for a response within a burst waits in
# vain, until its deadline.
#
#   proxy.hold([1, 2]) # a request alone, then two that the client sends before it waits
class BurstProxy < FaultyProxy
  def initialize(uri)
    @sizes = []
    @bursts = []
    super
  end

  # Runs a block while requests are held. Later requests than those of the last burst are bursts of one.
  #
  # @param sizes [Array<Integer>] the number of requests of each burst
  # @return [Array<Array<Symbol>>] the kinds of the requests, by burst: see {LdapRequest}
  def hold(sizes)
    @lock.synchronize do
      @sizes = sizes.dup
      @bursts = []
      @held = []
    end
    yield
    @lock.synchronize { @bursts }
  ensure
    @lock.synchronize { @held = nil }
  end

  private

  # The requests of a burst come over one connection.
  def serve(client)
    server = TCPSocket.new('127.0.0.1', @port)
    received = String.new
    loop do
      ready, = IO.select([client, server])
      client.write(server.readpartial(65_536)) if ready.include?(server)
      next unless ready.include?(client)

      received << client.readpartial(65_536)
      while (request = whole_request(received))
        forward(server, request)
      end
    end
  rescue IOError, SystemCallError
    [client, server].compact.each(&:close)
  end

  # Removes the first request: a byte for its tag, the bytes of its length, and so many more bytes.
  def whole_request(bytes)
    return if bytes.bytesize < 2

    length = bytes.getbyte(1)
    more = length < 0x80 ? 0 : length & 0x7f
    return if bytes.bytesize < 2 + more

    length = bytes.byteslice(2, more).bytes.inject(0) { |sum, byte| (sum * 256) + byte } if more.positive?
    bytes.slice!(0, 2 + more + length) if bytes.bytesize >= 2 + more + length
  end

  def forward(server, request)
    @lock.synchronize do
      return server.write(request) unless @held

      @held << request
      return if @held.length < (@sizes.first || 1)

      @sizes.shift
      @bursts << @held.map { |bytes| LdapRequest.kind(bytes) }
      server.write(@held.join)
      @held = []
    end
  end
end
