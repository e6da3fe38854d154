# frozen_string_literal: true

require 'openssl'
require 'socket'

# Clients of an HTTP server over TLS, with certificates. Each sends a request, waits for the answer, and sends the next
# one. One thread serves all of them, so that it needs little of the processors.
class ClosedLoop
  # A client. `answer` is the last answer, whole.
  class Client
    # @return [String, nil]
    attr_reader :answer

    # @param port [Integer]
    # @param context [OpenSSL::SSL::SSLContext]
    def initialize(port, context)
      @port = port
      @context = context
    end

    def to_io
      @socket.to_io
    end

    # @param request [String]
    def send(request)
      @began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      @socket ||= connect
      @answer = +''
      @done = false
      @socket.write(request)
    end

    # Reads what has arrived.
    #
    # @return [Float, nil] the seconds since the request, when the answer is whole
    def receive
      text = @socket.read_nonblock(65_536, exception: false)
      raise 'the server has closed the connection' if text.nil?
      return if text.is_a?(Symbol)

      @answer << text
      return receive if @socket.pending.positive?
      return unless whole?

      @done = true
      @socket = @socket.close if @answer.match?(/^connection: close/i)
      Process.clock_gettime(Process::CLOCK_MONOTONIC) - @began
    end

    # @return [String] the answer
    def ask(request)
      send(request)
      read until @done
      answer
    end

    # Waits until something has arrived, and reads it.
    #
    # @return [void]
    def read
      to_io.wait_readable
      receive
    end

    def close
      @socket&.close
    end

    private

    def connect
      socket = TCPSocket.new('127.0.0.1', @port)
      socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
      OpenSSL::SSL::SSLSocket.new(socket, @context).tap do |connection|
        connection.sync_close = true
        connection.connect
      end
    end

    def whole?
      head, body = @answer.split("\r\n\r\n", 2)
      return false unless body
      return body.end_with?("0\r\n\r\n") if head.match?(/^transfer-encoding: chunked/i)

      length = head[/^content-length: (\d+)/i, 1]
      length ? body.bytesize >= length.to_i : head.match?(%r{\AHTTP/1.1 204})
    end
  end

  # @param authority [String] the file of the certificate of the authority
  # @param certificate [String] the file of that of the client
  # @param key [String] and its key
  # @return [OpenSSL::SSL::SSLContext]
  def self.context(authority, certificate, key)
    OpenSSL::SSL::SSLContext.new.tap do |context|
      context.set_params(ca_file: authority, cert: OpenSSL::X509::Certificate.new(File.read(certificate)),
                         key: OpenSSL::PKey.read(File.read(key)))
    end
  end

  # @param clients [Array<Client>]
  # @yieldparam number [Integer] of the client
  # @yieldparam answer [String, nil] the answer to its request before
  # @yieldreturn [String] its next request
  def initialize(clients, &request)
    @clients = clients
    @request = request
  end

  # @param seconds [Numeric]
  # @return [Array<Float>] the seconds that each request took
  def run(seconds)
    ends = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds
    waiting = @clients.each_with_index.to_h { |client, number| [client, number] }
    waiting.each { |client, number| send(client, number) }
    took = []
    until waiting.empty?
      IO.select(waiting.keys).first.each do |client|
        next unless (time = client.receive)

        took << time
        over = Process.clock_gettime(Process::CLOCK_MONOTONIC) > ends
        over ? waiting.delete(client) : send(client, waiting[client])
      end
    end
    took
  end

  # Closes the connections.
  #
  # @return [void]
  def close
    @clients.each(&:close)
  end

  private

  def send(client, number)
    client.send(@request.call(number, client.answer))
  end
end
