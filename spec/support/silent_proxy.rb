# frozen_string_literal: true

require 'socket'
require_relative 'ldap_request'

# Stands between a client and a directory server, and keeps answers back. Lives in threads of this process.
class SilentProxy
  # @param server [Slapd]
  def initialize(server)
    @port = Integer(server.tcp_uri[/\d+\z/])
    @listener = TCPServer.new('127.0.0.1', 0)
    @held = {}
    Thread.new { accept }
  end

  # @return [String] ldap://127.0.0.1:PORT
  def uri
    "ldap://127.0.0.1:#{@listener.addr[1]}"
  end

  # While the block runs, the server gets requests of one kind, but its answers to them are kept back for so long, and
  # with them all that is to come after them on their connections.
  #
  # @param operation [Symbol] :bind, :search, :modify, :add or :delete
  def hold(operation, seconds: 3600)
    @held = { operation => seconds }
    yield
  ensure
    @held = {}
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
    # It was stopped.
  end

  def pass(client, server)
    silent_until = 0
    loop do
      ready, = IO.select(now < silent_until ? [client] : [client, server], nil, nil, 0.05)
      next unless ready

      if ready.include?(client)
        silent_until = now + forward(client, server)
      else
        client.write(server.readpartial(65_536))
      end
    end
  rescue IOError, SystemCallError
    [client, server].each(&:close)
  end

  # @return [Numeric] for how many seconds the answer is kept back
  def forward(client, server)
    request = client.readpartial(65_536)
    server.write(request)
    @held.fetch(LdapRequest.kind(request), 0)
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end
