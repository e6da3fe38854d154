# frozen_string_literal: true

module Simpkv
  module Server
    class Watches
      # A client that waits for changes: the bytes for it wait here until the {Reactor} has written them. Thread-safe.
      class Stream
        # Bytes that may wait, and seconds.
        BYTES = 64 * 1024
        SECONDS = 30
        # Bytes that are written at once: a connection that is ready takes them without waiting.
        PART = 4096
        # Seconds until the rights are looked at again before a change is told.
        FRESH = 1
        # Changes that are kept until the response begins.
        HELD = 1000
        # Seconds until it has begun, which Puma ends by itself.
        ABANDONED = 90
        private_constant :BYTES, :SECONDS, :PART, :FRESH, :HELD, :ABANDONED

        # @param ends [Float] when it ends, on {Clock}
        # @yield looks at the rights of the caller
        # @yieldreturn [void] raises {Problem} or {Error} if the caller may not see changes any more
        def initialize(ends, &check)
          @ends = ends
          @check = check
          @mutex = Mutex.new
          @held = []
          @bytes = String.new
          @checked = @made = Clock.now
        end

        # Begins the response. What was told meanwhile follows.
        #
        # @param form [#changes, #silence, #late, #last, #once?] see {Api::ChangeForms}
        # @param first [String] the bytes with which it begins
        # @param leave [#call] is called when the connection has ended
        # @return [void]
        def start(form, first, leave)
          @mutex.synchronize do
            @form = form
            @leave = leave
            @bytes << first.b
            append(form.changes(@held)) if @held.any?
            append(form.last(@early), last: true) if @early
            @held = nil
          end
        end

        # The reactor has the connection.
        #
        # @yield is called when there are bytes to write
        # @return [void]
        def connected(&wake)
          @wake = wake
          wake.call
        end

        # @param changes [Array<Change>]
        # @return [void]
        def tell(changes)
          return unless Clock.now - @checked < FRESH || check

          @mutex.synchronize { @held ? hold(changes) : append(@form.changes(changes)) }
          @wake&.call
        end

        # Ends the response if its caller has lost the right to it.
        #
        # @return [Boolean] whether the caller still has it
        def check
          @check.call
          @checked = Clock.now
          true
        rescue StandardError => e
          finish(e.is_a?(Problem) || e.is_a?(Error) ? e.message : 'internal error')
          false
        end

        # @param why [String]
        # @return [void]
        def finish(why)
          @mutex.synchronize { @form ? append(@form.last(why), last: true) : @early = why }
          @wake&.call
        end

        # As {#finish}, for a reason that is no error: the client asks again.
        #
        # @return [void]
        def part
          @mutex.synchronize { append(@form.late, last: true) }
        end

        # Writes what the connection takes without waiting.
        #
        # @return [Symbol] :more if bytes wait, :idle if none does, :ended if no more will
        def write(connection)
          bytes, last = @mutex.synchronize { [@bytes.byteslice(0, PART), @last] }
          return last ? :ended : :idle if bytes.empty?

          written = connection.write_nonblock(bytes, exception: false)
          return :more unless written.is_a?(Integer)

          @mutex.synchronize do
            @bytes = @bytes.byteslice(written..-1)
            @since = Clock.now
            @bytes.empty? && !@last ? :idle : :more
          end
        end

        # @return [Boolean] whether the client reads too slowly
        def stuck?(now)
          @mutex.synchronize { @overflow || (!@bytes.empty? && now - (@since ||= now) > SECONDS) }
        end

        # @return [Boolean] whether its client has gone before it got the head of the response
        def abandoned?
          @wake.nil? && Clock.now - @made > ABANDONED
        end

        # @return [Boolean] whether its time has passed
        def over?(now)
          now > @ends
        end

        # @return [Boolean] whether there is something to do for the one who writes
        def pending?
          @mutex.synchronize { @last || !@bytes.empty? }
        end

        # Lets the client, and what is between, know that the response goes on.
        #
        # @return [void]
        def keep_alive
          @mutex.synchronize { append(@form.silence) if @bytes.empty? }
        end

        # @return [void]
        def closed
          @leave&.call
        end

        private

        # A client for which too many changes wait is cut: it continues from its cookie.
        def hold(changes)
          @held.concat(changes)
          @overflow = true if @held.length > HELD
        end

        # @param bytes [String, nil]
        # @param last [Boolean] whether no more follows; also after an answer that has all
        def append(bytes, last: false)
          return if @last

          @since = Clock.now if @bytes.empty?
          @bytes << bytes.b if bytes
          @last = last || (!bytes.nil? && @form.once?)
          @overflow = true if @bytes.bytesize > BYTES
        end
      end
    end
  end
end
