# frozen_string_literal: true

require 'set'

module Simpkv
  module Query
    class Keeper
      # What a keeper is to do: the nodes that it was told of, a comparison, and who waits for them. Thread-safe.
      class Agenda
        # One that waits: `certname` is nil if it waits for a comparison. `outcome` is true, or why there is none.
        Demand = Struct.new(:certname, :outcome)
        private_constant :Demand

        def initialize
          @mutex = Mutex.new
          @changed = ConditionVariable.new
          @names = Set.new
          @demands = []
          @comparison = @woken = false
        end

        # @param certname [String, nil] of a node that was changed; nil for a comparison
        # @return [void]
        def tell(certname)
          @mutex.synchronize { add(certname, Clock.now) }
        end

        # Waits until the index has what the store has now.
        #
        # @param certname [String, nil] of a node; nil for all
        # @param deadline [Float] see {Clock.now}
        # @return [Boolean, String] true; false if it took longer; or why the index cannot be refreshed
        def demand(certname, deadline)
          demand = Demand.new(certname, nil)
          @mutex.synchronize do
            @demands << demand
            add(certname, 0)
            while demand.outcome.nil? && (left = deadline - Clock.now).positive?
              @changed.wait(@mutex, left)
            end
            @demands.delete(demand)
          end
          demand.outcome || false
        end

        # @return [Float, nil] since when there are nodes; 0 if somebody waits for one; nil if there is none
        def since
          @mutex.synchronize { @since }
        end

        # @return [Boolean]
        def comparison?
          @mutex.synchronize { @comparison }
        end

        # @return [Array(Array<String>, Array)] the nodes, and those that wait for one
        def take_names
          @mutex.synchronize do
            names = @names.to_a
            @names.clear
            @since = nil
            [names, taken(&:certname)]
          end
        end

        # @return [Array] those that wait for a comparison that begins now
        def take_comparison
          @mutex.synchronize do
            @comparison = false
            taken { |demand| demand.certname.nil? }
          end
        end

        # @param demands [Array] that were taken
        # @return [void]
        def settle(demands)
          finish(demands, true)
        end

        # @param demands [Array] that were taken: they fail, and those that were not as well
        # @param why [String]
        # @return [void]
        def fail(demands, why)
          finish(demands + @mutex.synchronize { taken { true } }, why)
        end

        # Waits until a time, or until there is something new.
        #
        # @param time [Float] see {Clock.now}
        # @return [void]
        def wait(time)
          @mutex.synchronize do
            left = time - Clock.now
            @changed.wait(@mutex, left) if !@woken && left.positive?
            @woken = false
          end
        end

        # @return [void]
        def wake
          @mutex.synchronize { wake_up }
        end

        private

        def add(certname, since)
          fresh = certname ? @since.nil? || since < @since : !@comparison
          @names << certname if certname
          @since = [@since, since].compact.min if certname
          @comparison = true unless certname
          wake_up if fresh
        end

        def wake_up
          @woken = true
          @changed.broadcast
        end

        def taken(&block)
          taken, @demands = @demands.partition(&block)
          taken
        end

        def finish(demands, outcome)
          @mutex.synchronize do
            demands.each { |demand| demand.outcome = outcome }
            @changed.broadcast
          end
        end
      end
      private_constant :Agenda
    end
  end
end
