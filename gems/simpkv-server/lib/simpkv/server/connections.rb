# frozen_string_literal: true

require 'simpkv/server/connection'

module Simpkv
  module Server
    # The open connections, of which there is a limited number. A new one takes the place of another one: of the client
    # that has the most, the one that has not brought a request for the longest time. So a client that opens any number
    # of connections takes them from itself, not from others. Thread-safe.
    class Connections
      # Open files: two for each connection, because a large body is in a file, and those of the stores and the process.
      FILES_EACH = 2
      FILES_MORE = 200
      # Seconds that a new connection waits for its place.
      WAIT = 0.2
      # Seconds between two lines in the log.
      SILENCE = 60
      private_constant :FILES_EACH, :FILES_MORE, :WAIT, :SILENCE

      # @return [Integer]
      attr_reader :max

      # @param max [Integer] the number of connections
      # @param log [Log]
      # @raise [ConfigError] the process may not open that many files
      def initialize(max, log)
        @max = max
        @log = log
        @mutex = Mutex.new
        @room = ConditionVariable.new
        @open = 0
        # By peer, its connections in the order of their last use. The values of the inner Hash have no meaning.
        @peers = Hash.new { |peers, peer| peers[peer] = {}.compare_by_identity }
        @ended = { room: 0, refused: 0, slow: 0 }
        allow_files((max * FILES_EACH) + FILES_MORE)
      end

      # Makes room for a connection, if there is none. Waits for it, but not long.
      #
      # @return [void]
      def make_room
        @mutex.synchronize do
          next if @open < @max

          report
          finish_one
          @room.wait(@mutex, WAIT)
        end
      end

      # @param socket [BasicSocket, Puma::MiniSSL::Socket] a new connection
      # @param kind [Symbol] see {Connection}
      # @return [Connection, nil] nil if there is no room: the connection is closed
      def add(socket, kind)
        connection = Connection.new(socket, kind, self)
        @mutex.synchronize do
          if @open < @max
            @open += 1
            @peers[connection.peer][connection] = true
            return connection
          end
          @ended[:refused] += 1
        end
        socket.to_io.close
      rescue SystemCallError, IOError
        socket.to_io.close
      end

      # Notes that a connection has brought a request.
      #
      # @return [void]
      def use(connection)
        @mutex.synchronize do
          known = @peers.fetch(connection.peer, nil)
          known[connection] = true if known&.delete(connection)
        end
      end

      # Notes that a connection is closed.
      #
      # @return [void]
      def remove(connection)
        @mutex.synchronize do
          @open -= 1
          forget(connection)
          @room.broadcast
        end
      end

      # From now on, each response ends its connection. Waits until the connections that are open now have ended: a
      # client that keeps one learns from its next response that it needs another one, and loses no request. Does not
      # wait for those that {Watches} has.
      #
      # @param seconds [Numeric] after which connections without a request are idle for too long
      # @return [void]
      def retire(seconds)
        @mutex.synchronize do
          @retiring = true
          kept = @peers.values.flat_map(&:keys)
          await(seconds) do
            kept.none? { |each| !each.released? && @peers.fetch(each.peer, {}).key?(each) }
          end
        end
      end

      # @return [Boolean]
      def retiring?
        @retiring || false
      end

      # Waits until no connection is open.
      #
      # @param seconds [Numeric] the most
      # @return [void]
      def drain(seconds)
        @mutex.synchronize { await(seconds) { @open.zero? } }
      end

      # Counts a connection that ends for a reason of the service.
      #
      # @param reason [Symbol] :room, :refused or :slow
      # @return [void]
      def count(reason)
        @mutex.synchronize { @ended[reason] += 1 }
      end

      # @return [Array(Integer, Hash{Symbol => Integer})] the number of open connections; and of those that the service
      #   has ended, by reason
      def stats
        @mutex.synchronize { [@open, @ended.dup] }
      end

      private

      # Waits until the block returns true, or for so many seconds.
      def await(seconds)
        deadline = Clock.now + seconds
        @room.wait(@mutex, [deadline - Clock.now, 0.01].max) until yield || Clock.now > deadline
      end

      # @raise [ConfigError]
      def allow_files(needed)
        soft, hard = Process.getrlimit(:NOFILE)
        return if soft >= needed
        return Process.setrlimit(:NOFILE, needed, hard) if hard >= needed

        raise ConfigError, "'max_connections' of 'server': #{max} connections need #{needed} open files, and this " \
                           "process may open #{hard}. Raise that limit (LimitNOFILE), or lower 'max_connections'"
      end

      # It is not counted as closed until Puma has closed it.
      def finish_one
        peer, connections = @peers.max_by { |_, each| each.length }
        return if peer.nil? && connections.nil?

        oldest, = connections.first
        forget(oldest)
        @ended[:room] += 1
        oldest.finish
      end

      def forget(connection)
        known = @peers.fetch(connection.peer, nil)
        return unless known

        known.delete(connection)
        @peers.delete(connection.peer) if known.empty?
      end

      def report
        now = Clock.now
        return if @reported && now - @reported < SILENCE

        @reported = now
        @log.call("there are #{max} connections ('max_connections'): new ones replace old ones")
      end
    end
  end
end
