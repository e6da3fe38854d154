# frozen_string_literal: true

require 'simpkv/query/builder'

module Simpkv
  module Query
    # Refreshes an index again and again, in a thread of its own: every second, or if a refresh takes longer than half a
    # second, after a rest as long as it took, of two seconds at most. Goes on after an error, less often. Thread-safe.
    class Keeper
      # The seconds from the begin of a refresh to the next one.
      PERIOD = 1.0
      # The most seconds of rest after a refresh: changes that it has not seen get old meanwhile.
      REST = 2.0
      # The most seconds between two refreshes that fail.
      PERIOD_FAILING = 5.0
      # The seconds in which a refresh may end after {#stop}, before its thread is killed.
      LINGER = 5
      private_constant :PERIOD, :REST, :PERIOD_FAILING, :LINGER

      # - `age`: the seconds since the begin of the last complete refresh; nil before the first one
      # - `error`: why the last refresh failed; nil if it did not
      # - `seconds`: how long the last complete refresh took
      # - `running`: for how many seconds the refresh that is on its way has been running; nil between two of them
      # - `refreshes`, `failures`, `nodes`: the number of complete refreshes, of those that failed, and of the nodes
      #   that were entered or removed, since the start
      Progress = Struct.new(:age, :error, :seconds, :running, :refreshes, :failures, :nodes)

      # @param took [Numeric] the seconds of the last refresh
      # @param failures [Integer] of the last refreshes
      # @return [Numeric] the seconds until the next one
      def self.rest(took, failures)
        [PERIOD - took, [took, REST].min, (PERIOD * failures).clamp(0, PERIOD_FAILING)].max
      end

      # @param log [#call] receives a line when refreshes begin to fail, and when they succeed again
      # @yieldparam stopping [Proc] see {Builder#initialize}
      # @yieldreturn [Builder] called again after an error in the configuration
      def initialize(log: ->(_line) {}, &builder)
        @new_builder = builder
        @log = log
        @mutex = Mutex.new
        @wake = ConditionVariable.new
        @counts = { refreshes: 0, failures: 0, nodes: 0 }
      end

      # @return [Keeper] itself
      def start
        @mutex.synchronize do
          @stopping = false
          @thread ||= Thread.new { run }
        end
        self
      end

      # Stops. A refresh that is on its way is given up.
      #
      # @return [void]
      def stop
        thread = @mutex.synchronize do
          @stopping = true
          @wake.broadcast
          @thread
        end
        return unless thread

        thread.join(LINGER) || thread.kill.join
        @mutex.synchronize { @thread = nil }
      end

      # @return [Progress]
      def progress
        @mutex.synchronize { Progress.new(since(@begun), @error, @seconds, since(@running_since), *@counts.values) }
      end

      private

      def run
        failures = 0
        until @stopping
          begun = Clock.now
          failures = refresh(begun) ? 0 : failures + 1
          pause(begun, failures)
        end
      end

      # @return [Float, nil] seconds
      def since(time)
        time && (Clock.now - time)
      end

      # @return [Boolean] whether it succeeded
      def refresh(begun)
        @mutex.synchronize { @running_since = begun }
        @builder ||= @new_builder.call(-> { @stopping })
        nodes = @builder.refresh
        succeed(begun, nodes)
        true
      rescue InterruptedError
        true # It stops.
      rescue Error, ConfigError, SystemCallError => e
        @builder = nil unless e.is_a?(Error)
        fail_with(e.message)
        false
      rescue StandardError, SystemStackError, NoMemoryError => e # A defect. Its message may have a value.
        @builder = nil
        fail_with("internal error: #{e.class.name}, at #{e.backtrace&.first}")
        false
      ensure
        @mutex.synchronize { @running_since = nil }
      end

      def succeed(begun, nodes)
        failed = @mutex.synchronize do
          @counts[:refreshes] += 1
          @counts[:nodes] += nodes
          @begun = begun
          @seconds = Clock.now - begun
          @error.tap { @error = nil }
        end
        @log.call('the index of queries is refreshed again') if failed
      end

      def fail_with(message)
        before = @mutex.synchronize do
          @counts[:failures] += 1
          @error.tap { @error = message }
        end
        @log.call("the index of queries cannot be refreshed: #{message}") unless before == message
      end

      def pause(begun, failures)
        seconds = self.class.rest(Clock.now - begun, failures)
        @mutex.synchronize { @wake.wait(@mutex, seconds) unless @stopping }
      end
    end
  end
end
