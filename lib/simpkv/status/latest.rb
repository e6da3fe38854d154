# frozen_string_literal: true

require 'simpkv'

module Simpkv
  module Status
    # The last result of a block. A separate thread calls the block when somebody asks and the last attempt is older
    # than a period. So nothing is read without need, and no request waits for a store that does not answer.
    # Thread-safe.
    class Latest
      # The time that a caller waits for an attempt, in seconds from its beginning, unless the caller names another
      # time. After an attempt that took longer, nobody waits for the next one.
      PATIENCE = 2
      private_constant :PATIENCE

      # - `value`: what was read last; nil before
      # - `time`: when
      # - `error`: why the last attempt failed; nil if it did not
      Reading = Struct.new(:value, :time, :error)

      # @param what [String] is read, for the log
      # @param period [Numeric] seconds from the beginning of an attempt to that of the next one, at least
      # @param log [#call, nil] receives a line for an error, unless the last attempt had the same one. Without a log,
      #   the error says where a defect is
      # @param patience [Numeric] the seconds from the beginning of an attempt in which {#get} waits for it
      # @yieldreturn [Object] not nil
      def initialize(what, period, log, patience: PATIENCE, &read)
        @what = what
        @period = period
        @log = log
        @patience = patience
        @read = read
        @mutex = Mutex.new
        @done = ConditionVariable.new
      end

      # Starts to read, if that is due.
      #
      # @return [void]
      def renew
        @mutex.synchronize do
          next if @running || (@begun && Clock.now - @begun < @period)

          @running = true
          @begun = Clock.now
          Thread.new { perform }
        end
      end

      # @return [Reading] the last one, or the one that is on its way, if it ends soon; without value and error if there
      #   is none
      def get
        renew
        @mutex.synchronize do
          left = left()
          while @running && left.positive?
            @done.wait(@mutex, left)
            left = left()
          end
          Reading.new(@value, @time, @error)
        end
      end

      private

      # @return [Numeric] the seconds in which it is worth to wait
      def left
        @seconds.to_f > @patience ? 0 : @begun + @patience - Clock.now
      end

      def perform
        value = @read.call
        finish do
          @value = value
          @time = Time.now.utc
          @error = nil
        end
      rescue Error, ConfigError, SystemCallError => e
        fail_with(e.message)
      rescue StandardError, SystemStackError, NoMemoryError => e # A defect. Its message may have a value.
        defect("internal error: #{e.class.name}", e.backtrace&.first)
      end

      def defect(what, place)
        shown = @log ? '. The log of the service has its place' : " at #{place}. Please report it"
        finish { @error = "#{what}#{shown}" }
        @log&.call("#{what} at #{place}")
      end

      # Not all who ask may see the message: the log has it.
      def fail_with(message)
        last = @error
        finish { @error = message }
        @log&.call("#{@what} cannot be read: #{message.gsub(/[[:cntrl:]]+/, ' ')}") if message != last
      end

      def finish
        @mutex.synchronize do
          yield
          @seconds = Clock.now - @begun
          @running = false
          @done.broadcast
        end
      end
    end
  end
end
