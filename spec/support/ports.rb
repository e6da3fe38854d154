# frozen_string_literal: true

require 'securerandom'
require 'socket'

# Free ports of the loopback address for servers.
module Ports
  # Linux takes the ports of clients from this one on.
  FIRST_OF_CLIENTS = Integer(File.read('/proc/sys/net/ipv4/ip_local_port_range')[/\d+/])

  # Ports of servers, as far as there are enough below those of clients; 0: Linux chooses one.
  RANGE = (FIRST_OF_CLIENTS > 20_000 ? 10_000..(FIRST_OF_CLIENTS - 1) : 0..0).freeze
  private_constant :FIRST_OF_CLIENTS, :RANGE

  # Reserves all ports at once, so that they differ. No connection that another process makes before the server starts
  # takes one of them: the server would end with "Address already in use".
  #
  # @return [Array<Integer>]
  def self.free(number)
    servers = Array.new(number) { listen }
    servers.map { |server| server.addr[1] }
  ensure
    servers&.each(&:close)
  end

  # Chooses at random, and not by RSpec's seed: several runs at once may have the same one.
  def self.listen
    TCPServer.new('127.0.0.1', SecureRandom.random_number(RANGE))
  rescue Errno::EADDRINUSE
    retry
  end
  private_class_method :listen
end
