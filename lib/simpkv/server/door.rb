# frozen_string_literal: true

require 'puma/const'
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
      # @return [void]
      def self.install(binder, connections)
        binder.ios = binder.ios.map do |listener|
          new(listener, connections).tap { |door| binder.envs[door] = Head[binder.env(listener)] }
        end
      end

      # The members of a request that Puma has read, from which the environment of Rack is made. Of a request with both
      # Content-Length and Transfer-Encoding, Puma would obey and remove the latter, so that nobody could tell.
      class Head < Hash
        # Whether the request had both. Two readers could see different requests in its bytes, so that the connection
        # ends with the response.
        AMBIGUOUS = 'simpkv.ambiguous_length'

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
      def initialize(listener, connections)
        @listener = listener
        @kind = Listener.kind_of(listener)
        @connections = connections
      end

      # @return [Connection]
      # @raise [IO::WaitReadable] there is none, or no room for one
      def accept_nonblock
        @connections.make_room
        @connections.add(@listener.accept_nonblock, @kind) || raise(IO::EAGAINWaitReadable)
      end

      # @return [TCPServer, UNIXServer]
      def to_io
        @listener.to_io
      end

      # @return [void]
      def close
        @listener.close
      end
    end
  end
end
