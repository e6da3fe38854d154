# frozen_string_literal: true

require 'socket'

# A client of the service that keeps its connection for as long as the service does, and sends no request twice.
#
#   client = KeptConnection.new { UNIXSocket.new(path) }
#   client.put('/v1/keys/a', '{"value":1}')   # => 201
class KeptConnection
  SECONDS = 60
  private_constant :SECONDS

  # @yieldreturn [IO] a new connection
  def initialize(&open)
    @open = open
  end

  # @param target [String]
  # @param body [String]
  # @return [Integer, nil] the status; nil if there is no response
  def put(target, body)
    @socket ||= @open.call
    @socket.write("PUT #{target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: #{body.bytesize}\r\n\r\n#{body}")
    head = head_of_response
    return drop if head.nil?

    drop if head.match?(/^connection: close/i)
    Integer(head.split[1])
  rescue Errno::EPIPE, Errno::ECONNRESET, OpenSSL::SSL::SSLError
    drop
  end

  # @return [Boolean]
  def open?
    !@socket.nil?
  end

  # Ends the connection.
  #
  # @return [nil]
  def drop
    @socket&.close
    @socket = nil
  end

  private

  # @return [String, nil]
  def head_of_response
    bytes = +''
    until bytes.include?("\r\n\r\n")
      raise 'the service does not answer' unless @socket.to_io.wait_readable(SECONDS)

      bytes << @socket.readpartial(4096)
    end
    bytes
  rescue EOFError
    nil
  end
end
