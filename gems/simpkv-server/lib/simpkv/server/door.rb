# frozen_string_literal: true

require 'puma/const'
require 'simpkv/server/connection'
require 'simpkv/server/listener'

module Simpkv
  module Server
    # A listening socket, which Puma uses in place of the one below it. It hands out each connection as a {Connection}.
    class Door
      # @return [Symbol] :unix, :tcp or :ssl
      attr_reader :kind

      # Puts a door before each listening socket.
      #
      # @param binder [Puma::Binder] that has bound all addresses
      # @param connections [Connections]
      # @param large [#call] returns whether the request of an environment of Rack may have a large body
      # @return [void]
      def self.install(binder, connections, large)
        binder.ios = binder.ios.map do |listener|
          env = binder.env(listener)
          new(listener, connections) { |door, connection| binder.envs[door] = Head.of(env, connection, large) }
        end
      end

      # The members of a request that Puma has read, from which the environment of Rack is made. Of a request with both
      # Content-Length and Transfer-Encoding, Puma would obey and remove the latter, so that nobody could tell.
      # Each connection has one, of which Puma makes a copy for each request.
      class Head < Hash
        # Whether the request had both. Two readers could see different requests in its bytes, so that the connection
        # ends with the response.
        AMBIGUOUS = 'simpkv.ambiguous_length'

        # @param env [Hash{String => Object}] of the listener
        # @param connection [Connection]
        # @param large [#call] see {Door.install}
        # @return [Head]
        def self.of(env, connection, large)
          new(connection, large).update(env)
        end

        def initialize(connection, large)
          super()
          @connection = connection
          @large = large
        end

        def initialize_copy(*)
          super
          @connection.head = self
        end

        # @return [Boolean] whether the request, whose body has not arrived, may have a large one
        def large_body?
          @large.call({ Connection::KEY => @connection }.merge(self))
        end

        # @return [String] see {Connection#peer_name}
        def peer_name
          @connection.peer_name
        end

        # @return [String, nil] see {Connection#beginning}
        def beginning
          @connection.beginning
        end

        def delete(name)
          if name == Puma::Const::TRANSFER_ENCODING2 && key?(Puma::Const::CONTENT_LENGTH)
            self[AMBIGUOUS] = true
            self[Puma::Const::HTTP_CONNECTION] = Puma::Const::CLOSE
          end
          super
        end
      end

      # @param listener [TCPServer, UNIXServer, Puma::MiniSSL::Server]
      # @param connections [Connections]
      # @yieldparam door [Door] itself
      # @yieldparam connection [Connection] a new one, before Puma has it
      def initialize(listener, connections, &opened)
        @listener = listener
        @kind = Listener.kind_of(listener)
        @connections = connections
        @opened = opened
      end

      # @return [Connection]
      # @raise [IO::WaitReadable] there is none, or no room for one
      def accept_nonblock
        raise IO::EAGAINWaitReadable if @silence

        @connections.make_room
        connection = @connections.add(@listener.accept_nonblock, @kind) || raise(IO::EAGAINWaitReadable)
        @opened.call(self, connection)
        connection
      end

      # Leaves new connections to the program that takes the place of this one: the system keeps them until then.
      #
      # @return [void]
      def shut
        @silence = IO.pipe
      end

      # @return [IO] what Puma waits for
      def to_io
        @silence ? @silence.first : @listener.to_io
      end

      # @return [void]
      def close
        @listener.close
      end
    end
  end
end
