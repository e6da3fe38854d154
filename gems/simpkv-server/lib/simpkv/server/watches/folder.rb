# frozen_string_literal: true

require 'securerandom'
require 'simpkv/store/change'

module Simpkv
  module Server
    class Watches
      # A folder that is watched, and the streams of the clients that wait for its changes. It keeps the last changes,
      # so that a client which asks again gets those that it has missed. A cookie has the id of this watch, the number
      # of a change, and the cookie of the store, from which another watch continues. Thread-safe.
      class Folder
        # Changes that are kept.
        KEPT = 1000
        # Seconds until a watch has begun.
        START = 30
        COOKIE = /\A(\h{12})-(\d{1,18})-(.*)\z/m.freeze
        private_constant :KEPT, :START, :COOKIE

        # @param cookie [String]
        # @return [String] the one of the store in it
        def self.cookie_of_store(cookie)
          cookie[COOKIE, 3] || cookie
        end

        # @param store [Store, Layer]
        # @param path [String]
        # @param log [Log]
        def initialize(store, path, log)
          @store = store
          @path = path
          @log = log
          @id = SecureRandom.hex(6)
          @mutex = Mutex.new
          @begun = ConditionVariable.new
          @changes = []
          @number = 0
          @cookie = ''
          @streams = {}.compare_by_identity
          @used = Clock.now
          @thread = Thread.new { follow }
        end

        # @return [Boolean]
        def alive?
          @thread.alive?
        end

        # Adds a stream, which is told of changes from now on, as soon as the watch has begun.
        #
        # @param stream [Stream]
        # @param since [String, nil] a cookie
        # @return [Array(Array<Change>, String)] the changes since then, nil if this watch does not have them; and the
        #   cookie of now
        # @raise [Error] the watch has not begun, or has ended
        def join(stream, since)
          @mutex.synchronize do
            await
            @streams[stream] = true
            @used = Clock.now
            [since ? since(since) : [], numbered(@number, @cookie)]
          end
        end

        # @param stream [Stream] that has ended
        # @return [void]
        def leave(stream)
          @mutex.synchronize do
            @streams.delete(stream)
            @used = Clock.now
          end
        end

        # Looks at the rights of all clients.
        #
        # @return [void]
        def check
          gone, waiting = streams.partition(&:abandoned?)
          gone.each { |stream| leave(stream) }
          waiting.each(&:check)
        end

        # @param seconds [Numeric]
        # @return [Boolean] whether no client has waited for so long
        def idle_for?(seconds)
          @mutex.synchronize { @streams.empty? && Clock.now - @used > seconds }
        end

        # @return [void]
        def stop
          @mutex.synchronize { @error ||= UnavailableError.new('the watch of the folder has ended') }
          @thread.kill
          @thread.join
        end

        private

        def await
          ends = Clock.now + START
          @begun.wait(@mutex, 1) until @ready || @error || Clock.now > ends
          raise @error if @error
          raise UnavailableError, 'the watch of the folder has not begun in time' unless @ready
        end

        def streams
          @mutex.synchronize { @streams.keys }
        end

        def numbered(number, cookie)
          "#{@id}-#{number}-#{cookie}"
        end

        # @return [Array<Change>, nil]
        def since(cookie)
          id, number = cookie.match(COOKIE)&.captures
          number = number.to_i
          first = @number - @changes.length
          @changes.drop(number - first) if id == @id && number.between?(first, @number)
        end

        def follow
          @store.watch(@path) do |change|
            next if %i[lost back].include?(change.kind) # What changes between the two comes later.

            change.kind == :ready ? ready(change) : tell(change)
          end
        rescue Error, ConfigError, SystemCallError => e
          failed(e.is_a?(Error) ? e : UnavailableError.new(e.message))
        rescue StandardError => e # A defect. Its message may have a value.
          @log.call("internal error: #{e.class} at #{e.backtrace&.first}")
          failed(Error.new("internal error: #{e.class}"))
        end

        def ready(change)
          @mutex.synchronize do
            @cookie = change.cookie
            @ready = true
            @begun.broadcast
          end
        end

        def tell(change)
          streams = @mutex.synchronize do
            @number += 1
            @cookie = change.cookie unless change.cookie.empty?
            change = Change.new(change.kind, change.key, numbered(@number, @cookie))
            @changes.push(change)
            @changes.shift if @changes.length > KEPT
            @streams.keys
          end
          streams.each { |stream| stream.tell([change]) }
        end

        def failed(error)
          streams = @mutex.synchronize do
            @error = error
            @begun.broadcast
            @streams.keys
          end
          why = error.is_a?(NotFoundError) ? 'the folder was deleted' : 'the store cannot be watched any more'
          streams.each { |stream| stream.finish("#{why}: connect again") }
        end
      end
    end
  end
end
