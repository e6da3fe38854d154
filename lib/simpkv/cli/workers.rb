# frozen_string_literal: true

require 'simpkv'

module Simpkv
  module Cli
    # Shares work among threads.
    module Workers
      class << self
        # Runs the block for each thing, in threads. An exception of the block ends all threads after their current
        # things. If the enumeration of the things fails, the threads finish those that it has yielded.
        #
        # @param things [#each] enumerated by this thread, at most `count` ahead of the threads
        # @param count [Integer] of threads
        # @yieldparam thing [Object] not nil
        # @return [void]
        # @raise [Exception] that of the enumeration, or of the block
        def share(things, count, &block)
          queue = SizedQueue.new(count)
          threads = Array.new(count) { Thread.new { work(queue, &block) } }
          feed(queue, things)
          threads.each(&:value)
        rescue SignalException
          queue&.clear
          raise
        ensure
          threads&.each { |thread| thread.join rescue nil } # rubocop:disable Style/RescueModifier -- it is raised above
        end

        private

        def feed(queue, things)
          things.each { |thing| queue << thing }
        rescue ClosedQueueError
          nil # A thread has failed.
        ensure
          queue.close
        end

        def work(queue)
          Thread.current.report_on_exception = false
          while (thing = queue.pop)
            yield thing
          end
        rescue StandardError
          queue.clear
          queue.close
          raise
        end
      end
    end
  end
end
