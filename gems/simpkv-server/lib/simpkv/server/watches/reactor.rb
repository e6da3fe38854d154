# frozen_string_literal: true

require 'nio'

module Simpkv
  module Server
    class Watches
      # The thread that owns the connections of all clients that wait: it writes what their streams have, and closes
      # those whose clients have gone, read too slowly, or have waited long enough.
      class Reactor
        # Seconds between two looks at the times, and between two signs of life.
        TICK = 1
        SILENCE = 15
        # Seconds in which responses may end when the service does.
        LINGER = 5
        # Bytes that are read from a client, which sends none.
        READ = 1024
        private_constant :TICK, :SILENCE, :LINGER, :READ

        # @param log [Log]
        def initialize(log)
          @log = log
          @selector = NIO::Selector.new
          @mutex = Mutex.new
          @work = []
          @monitors = {}.compare_by_identity
          @spoken = Clock.now
          @thread = Thread.new { run }
        end

        # @return [Integer] the number of clients
        def size
          @monitors.length
        end

        # @param stream [Stream]
        # @param connection [Connection] from which Puma has written the head of the response
        # @return [void]
        def add(stream, connection)
          post { begin_writing(stream, connection) }
        end

        # Ends all responses.
        #
        # @return [void]
        def stop
          post do
            @stops = Clock.now + LINGER
            @monitors.each_key do |stream|
              stream.part
              wants_to_write(stream)
            end
          end
          @thread.join(LINGER * 2)
        end

        private

        # Many posts wake the thread once: a change is one for each client.
        def post(&work)
          first = @mutex.synchronize { @work.push(work).one? }
          @selector.wakeup if first
        end

        def take
          @mutex.synchronize { @work.slice!(0..) }
        end

        def run
          until @stops && (@monitors.empty? || Clock.now > @stops)
            @selector.select(TICK) { |monitor| ready(monitor) }
            take.each(&:call)
            tick
          end
          @monitors.each_key.to_a.each { |stream| drop(stream) }
        end

        def begin_writing(stream, connection)
          connection.release
          monitor = @selector.register(connection.to_io, :rw)
          monitor.value = [stream, connection]
          @monitors[stream] = monitor
          guarded(stream) { |each| each.connected { post { wants_to_write(each) } } }
          stream.part if @stops
        rescue IOError, SystemCallError, ArgumentError # The client has gone.
          connection.close
          stream.closed
        end

        def wants_to_write(stream)
          @monitors[stream]&.interests = :rw
        end

        def ready(monitor)
          stream, connection = monitor.value
          guarded(stream) do
            next drop(stream) if monitor.readable? && gone?(connection)

            written(stream, stream.write(connection), monitor) if monitor.writable?
          end
        end

        def written(stream, state, monitor)
          case state
          when :ended then drop(stream)
          when :idle then monitor.interests = :r
          end
        end

        # A client that sends another request on this connection has given up this one.
        def gone?(connection)
          connection.read_nonblock(READ)
          true
        rescue IO::WaitReadable # Over TLS, something without bytes of the client.
          false
        end

        def tick
          now = Clock.now
          return if @ticked && now - @ticked < TICK

          @ticked = now
          speak = now - @spoken > SILENCE
          @spoken = now if speak
          @monitors.each_key.to_a.each { |stream| guarded(stream) { look_at(stream, now, speak) } }
        end

        def look_at(stream, now, speak)
          return drop(stream) if stream.stuck?(now)

          stream.part if stream.over?(now)
          stream.keep_alive if speak
          wants_to_write(stream) if stream.pending?
        end

        # No client ends what others wait for.
        def guarded(stream)
          yield stream
        rescue IOError, SystemCallError, OpenSSL::SSL::SSLError, Puma::MiniSSL::SSLError
          drop(stream)
        rescue StandardError => e # A defect.
          @log.call("internal error: #{e.class} at #{e.backtrace&.first}")
          drop(stream)
        end

        def drop(stream)
          monitor = @monitors.delete(stream) or return

          connection = monitor.value.last
          monitor.close
          connection.close
        rescue IOError, SystemCallError
          nil # It was closed already.
        ensure
          stream.closed if monitor
        end
      end
    end
  end
end
