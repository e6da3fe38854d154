# frozen_string_literal: true

require 'socket'

# Free ports of the loopback address for servers.
module Ports
  # Reserves all ports at once, so that they differ. Linux chooses them at random. Another process could take a port
  # before the server does, but this is very unlikely.
  #
  # @return [Array<Integer>]
  def self.free(number)
    servers = Array.new(number) { TCPServer.new('127.0.0.1', 0) }
    servers.map { |server| server.addr[1] }
  ensure
    servers&.each(&:close)
  end
end
