# frozen_string_literal: true

require 'socket'
require_relative 'ldap_request'

# A proxy between a client and a directory server that delays answers. It runs in threads of this process.
class SilentProxy
  NEVER = -> { false }
  private_constant :NEVER

  # @param server [Slapd]
  def initialize(server)
    @port = Integer(server.tcp_uri[/\d+\z/])
    @listener = TCPServer.new('127.0.0.1', 0)
    @held = {}
    @counts = Hash.new(0)
    Thread.new { accept }
  end

  # @return [String] ldap://127.0.0.1:PORT
  def uri
    "ldap://127.0.0.1:#{@listener.addr[1]}"
  end

  # While the block runs, the proxy delays the answers to requests of one kind, and all answers after them on the same
  # connection. The requests reach the server.
  #
  # @param operation [Symbol] :bind, :search, :modify, :add or :delete
  # @param seconds [Numeric, nil] the delay; nil for one that ends with the block
  # @param after [Integer] the number of these requests whose answers still pass
  def hold(operation, seconds: nil, after: 0)
    over = false
    before = @held
    last = @counts[operation] + after
    @held = before.merge(operation => lambda do
      next NEVER if @counts[operation] <= last

      ends = now + (seconds || Float::INFINITY)
      -> { now < ends && (seconds || !over) }
    end)
    yield
  ensure
    over = true
    @held = before
  end

  # @param operation [Symbol] as for {#hold}
  # @return [Integer] the number of requests of that kind so far
  def count(operation)
    @counts[operation]
  end

  def stop
    @listener.close
  end

  private

  def accept
    loop do
      client = @listener.accept
      Thread.new { pass(client, TCPSocket.new('127.0.0.1', @port)) }
    end
  rescue IOError
    # The proxy was stopped.
  end

  def pass(client, server)
    silent = NEVER
    loop do
      ready, = IO.select(silent.call ? [client] : [client, server], nil, nil, 0.05)
      next unless ready

      if ready.include?(client)
        silent = forward(client, server)
      else
        client.write(server.readpartial(65_536))
      end
    end
  rescue IOError, SystemCallError
    [client, server].each(&:close)
  end

  # @return [Proc] which returns true until the answer may pass
  def forward(client, server)
    request = client.readpartial(65_536)
    kind = LdapRequest.kind(request)
    @counts[kind] += 1
    server.write(request)
    @held.key?(kind) ? @held[kind].call : NEVER
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end
