# frozen_string_literal: true

require 'forwardable'
require 'ipaddr'
require 'puma'
require 'simpkv/server/paced_writes'
require 'socket'

module Simpkv
  module Server
    # A connection of a client, which Puma uses in place of the socket below it: a socket of the system, or one of TLS.
    # It ends a request that arrives slowly. Puma bounds the time between two parts of a request only, so that a client
    # which sends a byte now and then would keep its connection forever. It also ends a large request of a client who
    # may not send one, before all of it has arrived: Puma has one limit for all.
    class Connection
      extend Forwardable

      # Puma's name for it in the environment of Rack.
      KEY = 'puma.socket'
      # The whole request arrives within this time, and its parts within {PAUSE} of each other.
      SECONDS = 30
      PAUSE = 10
      # Bytes of a request, its head included, that every client may send.
      SMALL = 2 * 1024 * 1024
      # struct ucred: process id, user id, group id.
      CREDENTIALS = 'l3'
      # The bits of an IPv6 address that tell one network from another: a host has all addresses below them.
      NETWORK = 64
      private_constant :SMALL, :CREDENTIALS, :NETWORK

      # Puma looks at the socket itself, not at the {Connection}, to find out whether a request has arrived.
      module Polled
        # @return [Connection]
        attr_writer :connection

        def wait_readable(*)
          @connection.polled
          super
        end
      end
      private_constant :Polled

      # A large request of a client who may not send one. Puma answers it, and closes the connection.
      class TooLarge < Puma::HttpParserError; end

      def_delegators :@io, :closed?, :flush, :local_address, :peeraddr, :peercert, :syswrite, :to_io,
                     :wait_readable, :wait_writable, :write, :write_nonblock

      # @return [Symbol] the kind of the listener: :unix, :tcp or :ssl
      attr_reader :kind

      # @return [Integer, nil] the user of the other process, on a Unix socket
      attr_reader :uid

      # @return [String, nil] the first bytes of the request that arrives; nil if they came with those of another one
      attr_reader :beginning

      # @return [Object] what tells the client from others: its user, or its address
      attr_reader :peer

      # @return [Door::Head, nil] that of the request that arrives
      attr_writer :head

      # @param socket [BasicSocket, Puma::MiniSSL::Socket]
      # @param kind [Symbol]
      # @param connections [Connections] that has it
      def initialize(socket, kind, connections)
        @io = socket
        @kind = kind
        @connections = connections
        @uid = uid_of(socket) if kind == :unix
        @address = address(to_io) unless @uid
        @peer = @uid || network
        @bytes = 0
        @threads = {}.compare_by_identity
        to_io.extend(Polled, PacedWrites).connection = self
      end

      # Puma calls this when there is something to read.
      #
      # @return [String]
      # @raise [Errno::ETIMEDOUT] the request has not arrived in time
      # @raise [TooLarge]
      def read_nonblock(*arguments)
        now = Clock.now
        @arrival_ends ||= now + SECONDS
        bytes = @io.read_nonblock(*arguments)
        refuse_late(now)
        @beginning ||= bytes.dup
        refuse_large(bytes)
        bytes
      rescue IO::WaitReadable # Over TLS, bytes have arrived without the rest of their record, or of the handshake.
        refuse_late(now)
        raise
      end

      # Puma sends `100 Continue` with this method. It answers nothing after a ConnectionError. After another error it
      # would write an answer to the same client, who takes none.
      #
      # @param bytes [String]
      # @return [self]
      # @raise [Puma::ConnectionError] the client reads too slowly
      def <<(bytes)
        @io << bytes
        self
      rescue Errno::ETIMEDOUT
        raise Puma::ConnectionError, 'the client reads too slowly', cause: nil
      end

      # A thread of Puma has the connection.
      #
      # @return [void]
      def polled
        Thread.current[:simpkv_connection] = self
        @threads[Thread.current] = true
      end

      # A request has arrived, which this thread answers: the next one has a time of its own.
      #
      # @return [void]
      def arrived
        await_other_threads
        to_io.begin_response
        @arrival_ends = nil
        @beginning = nil
        @bytes = 0
        @large = false
        @connections.use(self)
      end

      # Puma gives the connection away for good, to one who waits for it with others.
      #
      # @return [void]
      def release
        @released = true
        @arrival_ends = Float::INFINITY
        to_io.never_wait
      end

      # @return [Boolean] whether it waits with others, and has no request that ends soon
      def released?
        @released || false
      end

      # @return [String] the client in a line of the log about a request that has no {Caller}
      def peer_name
        @uid ? "user:#{Audit.user_name(@uid)}" : (@address || '-').to_s
      end

      # @return [Boolean] whether the connection ends with the present response, which says so
      def retiring?
        @connections.retiring?
      end

      # Ends the connection once Puma has answered what has arrived: Puma reads its end next.
      #
      # @return [void]
      def finish
        to_io.shutdown(:RD)
      rescue SystemCallError, IOError
        nil # Its client, or Puma, has closed it.
      end

      # @return [void]
      def close
        @io.close
      ensure
        @connections.remove(self)
      end

      private

      # Puma has one buffer for the responses of a connection. A thread gives the connection away, and empties the
      # buffer after that (puma 8.0.2, Server#process_client): the response that another thread is making in it loses
      # its begin. Between the two, a thread does not wait for anything: it only waits to be run. After it, it waits for
      # work, or has another connection.
      def await_other_threads
        polled
        others = @threads.keys - [Thread.current]
        others.each do |thread|
          Thread.pass while thread.status == 'run' && thread[:simpkv_connection].equal?(self)
          @threads.delete(thread)
        end
      end

      def refuse_late(now)
        return unless now > @arrival_ends

        @connections.count(:slow)
        raise Errno::ETIMEDOUT
      end

      # Puma has read the head by then.
      def refuse_large(bytes)
        @bytes += bytes.to_s.bytesize
        return if @bytes <= SMALL || @large

        @large = @head&.large_body?
        raise TooLarge, 'the request is too large for its client' unless @large
      end

      def uid_of(socket)
        socket.getsockopt(:SOCKET, :PEERCRED).unpack(CREDENTIALS)[1]
      end

      # @return [IPAddr, nil] nil if the client has gone
      def address(socket)
        IPAddr.new(socket.remote_address.ip_address.sub(/%.*/, '')).native
      rescue SystemCallError, IPAddr::Error
        nil
      end

      # @return [String, nil]
      def network
        (@address&.ipv6? ? @address.mask(NETWORK) : @address)&.to_s
      end
    end
  end
end
