# frozen_string_literal: true

require 'openssl'
require 'socket'

# A server that sends a byte now and then, so that every byte comes in time and the answer never ends; or one that sends
# as much as it can.
#
#   TricklingServer.run("HTTP/1.1 200 OK\r\n\r\n") { |server| ask(server.port) }
class TricklingServer
  # @param beginning [String] what it sends at once when bytes have arrived
  # @param bytes [String] what it sends again and again then
  # @param pause [Numeric] the seconds between them
  # @param listener [TCPServer, UNIXServer]
  def self.run(beginning, bytes: 'x', pause: 0.05, listener: TCPServer.new('127.0.0.1', 0))
    server = new(listener) do |client|
      client.readpartial(65_536)
      client.write(beginning)
      loop do
        client.write(bytes)
        sleep pause
      end
    end
    yield server
  ensure
    server&.stop
  end

  def initialize(listener, &serve)
    @listener = listener
    @thread = Thread.new { loop { accept(&serve) } }
  end

  # @return [Integer]
  def port
    @listener.local_address.ip_port
  end

  def stop
    @thread.kill.join
    @listener.close
  end

  private

  def accept
    client = @listener.accept
    yield client
  rescue SystemCallError, EOFError
    nil
  ensure
    close(client)
  end

  # JRuby 9.3 closes some sockets whose peer has left by itself.
  def close(client)
    client&.close
  rescue Errno::EBADF
    nil
  end
end
