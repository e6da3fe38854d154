# frozen_string_literal: true

require 'simpkv/counted'
require 'simpkv/query/builder'
require 'simpkv/query/keeper/agenda'
require 'simpkv/query/keeper/listing'

module Simpkv
  module Query
    # Keeps an index as the store is, in a thread of its own. It compares the index with a list of the store again and
    # again: what that finds is true. While the store tells of changes, the keeper enters at once what it was told, and
    # compares rarely, because the store may not have told all. Where the store does not tell, the keeper compares every
    # second; if a comparison takes longer than half a second, it rests as long as that took, but two seconds at most.
    # It goes on after an error, less often. Thread-safe.
    class Keeper
      # The seconds from the begin of a comparison to the next one, where the store does not tell of changes.
      PERIOD = 1.0
      # The most seconds of rest after a comparison: changes that it has not seen get old meanwhile.
      REST = 2.0
      # The most seconds between two comparisons that fail.
      PERIOD_FAILING = 5.0
      # The most seconds from the begin of a comparison to the next one, while the store tells of changes.
      PERIOD_TOLD = 60.0
      # The seconds after the first change in which more are gathered: a run changes a node several times.
      GATHER = 0.03
      # The seconds of rest after changes were entered, by seconds of the processor that it took; and the most of them.
      CALM = 10
      CALM_MOST = 0.25
      # The seconds after which a node is read again that was being saved when it was read.
      SETTLE = 0.2
      # The seconds in which a refresh may end after {#stop}, before its thread is killed.
      LINGER = 5
      private_constant :PERIOD, :REST, :PERIOD_FAILING, :PERIOD_TOLD, :GATHER, :CALM, :CALM_MOST, :SETTLE,
                       :LINGER

      # - `age`: the seconds since the begin of the last complete comparison; nil before the first one
      # - `error`: why the last refresh failed; nil if it did not
      # - `seconds`: how long the last complete comparison took
      # - `running`: for how many seconds the comparison that is on its way has been running; nil between two of them
      # - `trouble`: why the store does not tell of changes, so that it is compared every second; nil if it does
      # - `refreshes`, `failures`, `nodes`, `told`, `untold`: the number of complete comparisons, of refreshes that
      #   failed, of the nodes that were entered or removed, and of those among them of which the store had told, or
      #   should have told, since the start
      Progress = Struct.new(:age, :error, :seconds, :running, :trouble, :refreshes, :failures, :nodes, :told, :untold)

      # @param took [Numeric] the seconds of the last comparison
      # @param failures [Integer] of the last refreshes
      # @return [Numeric] the seconds until the next one
      def self.rest(took, failures)
        [PERIOD - took, [took, REST].min, (PERIOD * failures).clamp(0, PERIOD_FAILING)].max
      end

      # @param age [Numeric] the age that the index may have, in seconds: comparisons are frequent enough for it
      # @param log [#call] receives a line when refreshes begin to fail, and when they succeed again; as well when the
      #   store stops telling of changes, and when it tells again
      # @yieldparam stopping [Proc] see {Builder#initialize}
      # @yieldreturn [Builder] called again after an error in the configuration
      def initialize(age: PERIOD_TOLD, log: ->(_line) {}, &builder)
        @new_builder = builder
        @period = (age / 2.0).clamp(PERIOD, PERIOD_TOLD)
        @log = log
        @mutex = Mutex.new
        @agenda = Agenda.new
        @failures = @untold = @earliest = @latest = @settle_at = @follow_at = 0
        @counts = { refreshes: 0, failures: 0, nodes: 0, told: 0, untold: 0 }
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
          @thread
        end
        return unless thread

        @agenda.wake
        thread.join(LINGER) || thread.kill.join
        @mutex.synchronize { @thread = nil }
      end

      # Waits until the index has what the store has now.
      #
      # @param certname [String, nil] of a node; nil for all
      # @param deadline [Float] see {Clock.now}
      # @return [void]
      # @raise [StaleError] it cannot be refreshed, or not in time
      def demand(certname, deadline)
        outcome = @agenda.demand(certname, deadline)
        return if outcome == true

        raise StaleError, "the index of queries does not have the last changes#{outcome ? ": #{outcome}" : ' in time'}"
      end

      # @return [Progress]
      def progress
        @mutex.synchronize do
          Progress.new(since(@begun), @error, @seconds, since(@running_since), @trouble, *@counts.values)
        end
      end

      private

      def run
        until @stopping
          step
          @agenda.wait(next_time) unless @stopping
        end
      ensure
        drop_listing('the service ends')
        drop_builder
      end

      # @return [Float, nil] seconds
      def since(time)
        time && (Clock.now - time)
      end

      def step
        attempt do
          now = Clock.now
          note_trouble
          if @listing&.ready? then compare
          elsif @listing.nil? && now >= comparison_at then list
          elsif now >= follow_at then follow
          elsif now >= settle_at then settle
          end
        end
      end

      # @return [Float] when {#step} has something to do
      def next_time
        return Clock.now if @listing&.ready?

        [(comparison_at unless @listing), follow_at, settle_at, Clock.now + PERIOD].compact.min
      end

      def comparison_at
        routine? && @untold.zero? ? [@earliest, @latest].max : @earliest
      end

      # @return [Boolean] whether the store has told all changes since the last comparison, as far as is known
      def routine?
        @trouble.nil? && @failures.zero? && !@agenda.comparison?
      end

      # Changes that were told wait for the first complete comparison, and after a failure for one that succeeds.
      def follow_at
        since = @agenda.since if @begun && @failures.zero?
        since ? [since + GATHER, @follow_at].max : Float::INFINITY
      end

      def settle_at
        @begun && @failures.zero? && @trouble.nil? ? @settle_at : Float::INFINITY
      end

      def list
        @routine = routine?
        @demands = @agenda.take_comparison
        @listing = Listing.new(builder.feed, @demands) { @agenda.wake }
        @mutex.synchronize { @running_since = @listing.begun }
      end

      def compare
        follow if follow_at.finite?
        @demands = @listing.demands
        nodes = builder.refresh(@listing.called) { @listing.value }
        note_untold(@routine ? builder.untold : 0)
        succeed(@listing.begun, nodes)
        @listing = nil
        @agenda.settle(@demands)
        @settle_at = Clock.now + (builder.unsettled ? SETTLE : PERIOD)
      end

      # Changes that the store should have told: its watch may be cut. Comparisons are frequent until one finds none. A
      # single one may have been told a moment later.
      def note_untold(nodes)
        before = @untold
        @untold = nodes
        @mutex.synchronize { @counts[:untold] += nodes }
        return unless nodes.positive? && before.positive?

        @log.call("the store has not told of changes of #{Counted.of(nodes, 'node')}, which a comparison found")
      end

      # Rests afterwards, so that many changes are entered together.
      def follow
        begun = used
        names, @demands = @agenda.take_names
        count(builder.follow(names), told: true)
        @agenda.settle(@demands)
        took = used - begun
        @follow_at = Clock.now + (took * CALM).clamp(took, [took, CALM_MOST].max)
        @settle_at = [@settle_at, Clock.now + SETTLE].min if builder.unsettled
      end

      # @return [Float] seconds of the processor that this thread has used
      def used
        Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)
      end

      def settle
        count(builder.settle)
        @settle_at = Clock.now + PERIOD
      end

      def builder
        @builder ||= @new_builder.call(-> { @stopping }).tap do |builder|
          builder.feed.watch { |certname| @agenda.tell(certname) }
        end
      end

      # A list that was begun before a failure may lack what the failure has lost.
      def drop_listing(why)
        @listing&.stop
        @agenda.fail([*@demands, *@listing&.demands], why)
        @listing = nil
        @mutex.synchronize { @running_since = nil }
      end

      def drop_builder
        @builder&.feed&.unwatch
        @builder = nil
      end

      def attempt
        @demands = []
        yield
      rescue InterruptedError
        nil # It stops.
      rescue Error, ConfigError, SystemCallError => e
        fail_with(e.message, e.is_a?(Error))
      rescue StandardError, SystemStackError, NoMemoryError => e # A defect. Its message may have a value.
        fail_with("internal error: #{e.class.name}, at #{e.backtrace&.first}", false)
      end

      def count(nodes, told: false)
        @mutex.synchronize do
          @counts[:nodes] += nodes
          @counts[:told] += nodes if told
        end
      end

      def succeed(begun, nodes)
        @failures = 0
        plan(begun)
        failed = @mutex.synchronize do
          @counts[:refreshes] += 1
          @counts[:nodes] += nodes
          @begun = begun
          @running_since = nil
          @seconds = Clock.now - begun
          @error.tap { @error = nil }
        end
        @log.call('the index of queries is refreshed again') if failed
      end

      def plan(begun)
        now = Clock.now
        @earliest = now + self.class.rest(now - begun, @failures)
        @latest = begun + @period
      end

      def fail_with(message, keep)
        drop_builder unless keep
        @failures += 1
        plan(Clock.now)
        before = @mutex.synchronize do
          @counts[:failures] += 1
          @error.tap { @error = message }
        end
        drop_listing(message)
        @log.call("the index of queries cannot be refreshed: #{message}") unless before == message
      end

      # Until the first watches have begun, there is nothing to tell of.
      def note_trouble
        trouble = @builder ? @builder.feed.trouble : Feed::NOT_YET
        @mutex.synchronize { @trouble = trouble }
        return if [Feed::NOT_YET, @logged].include?(trouble)

        @logged = trouble
        return @log.call('the store tells the index of queries of changes again') unless trouble

        @log.call("the store does not tell of changes, so that the index is compared every second: #{trouble}")
      end
    end
  end
end
