# frozen_string_literal: true

require 'net/http'
require 'openssl'
require 'socket'
require 'timeout'

module Simpkv
  # HTTP with a limit of time for the whole exchange, and of bytes for the answer. The time limits of Net::HTTP begin
  # anew with each byte that arrives, so that a server that sends a byte now and then could block its caller forever.
  class BoundedHTTP < Net::HTTP
    # The answer has more bytes than it may have.
    class TooLarge < StandardError; end

    # A socket that counts what it reads.
    module Counting
      # @return [Integer] the bytes that it may still read
      attr_accessor :allowance

      def read_nonblock(length, buffer = nil, exception: true)
        bytes = super
        self.allowance -= bytes.bytesize if bytes.is_a?(String)
        raise TooLarge if allowance.negative?

        bytes
      end
    end
    private_constant :Counting

    # @param path [String] of a Unix socket
    # @return [BoundedHTTP]
    def self.unix(path)
      new('localhost', nil, nil).tap { |http| http.path = path }
    end

    # @return [String] of a Unix socket
    attr_writer :path

    # @param seconds [Numeric] for an exchange, the connection included
    # @param bytes [Integer] of an answer, its head included
    # @return [self]
    def bound(seconds, bytes)
      @seconds = seconds
      @bytes = bytes
      self.read_timeout = seconds
      self.max_retries = 0 # JRuby's Timeout raises an error after which Net::HTTP would send a GET again.
      self
    end

    # Sends a request, over the open connection if there is one. After an error, the connection is closed.
    #
    # @param request [Net::HTTPRequest]
    # @return [Net::HTTPResponse] with its body
    # @raise [TooLarge, Timeout::Error, SystemCallError, SocketError, IOError, OpenSSL::OpenSSLError, Net::ProtocolError]
    def exchange(request)
      request['accept-encoding'] = 'identity' # A small body could expand to a large one.
      response = Timeout.timeout(@seconds) { answer(request) }
    ensure
      finish if started? && response.nil?
    end

    private

    def answer(request)
      start unless started?
      @socket.io.allowance = @bytes
      request(request)
    end

    # Net::HTTP calls this to connect.
    def connect
      return super unless @path

      @socket = Net::BufferedIO.new(UNIXSocket.new(@path), read_timeout: read_timeout)
      on_connect
    end

    # Net::HTTP calls this after it has connected, also when it reconnects in an exchange.
    def on_connect
      @socket.io.extend(Counting)
      @socket.io.allowance = @bytes
    end
  end
end
