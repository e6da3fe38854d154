# frozen_string_literal: true

module Simpkv
  module Query
    class Keeper
      # A list of the store, which a thread of its own makes: nodes that were changed are entered meanwhile.
      class Listing
        # @return [Float] see {Clock.now}
        attr_reader :begun

        # @return [Time]
        attr_reader :called

        # @return [Array] who waits for it: see {Agenda#take_comparison}
        attr_reader :demands

        # @param feed [Feed]
        # @param demands [Array]
        # @yieldreturn [void] called when the list has been made, or has failed
        def initialize(feed, demands, &done)
          @begun = Clock.now
          @called = Time.now
          @demands = demands
          @thread = Thread.new do
            Thread.current.report_on_exception = false
            feed.list
          ensure
            @ready = true
            done.call
          end
        end

        # @return [Boolean] whether it has been made, or has failed
        def ready?
          @ready
        end

        # @return [Hash{String => String}] see {Feed#list}
        # @raise [Error, ConfigError] as that
        def value
          @thread.value
        end

        # @return [void]
        def stop
          @thread.kill.join
        rescue StandardError
          nil # It has failed.
        end
      end
      private_constant :Listing
    end
  end
end
