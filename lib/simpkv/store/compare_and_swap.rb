# frozen_string_literal: true

require 'simpkv/errors'

module Simpkv
  # The loop of all writes that depend on what they have read: other writers may change it in between.
  #
  #     CompareAndSwap.repeat do
  #       stored = store.get(key)
  #       document = changed(stored)
  #       CompareAndSwap.attempt { store.put(key, document, condition: :expect, expect: stored) }
  #     end
  module CompareAndSwap
    # The number of attempts, and the longest pause between two of them in seconds.
    ATTEMPTS = 100
    LONGEST_PAUSE = 0.05

    # Another writer was faster in one attempt.
    class Overtaken < ConflictError; end
    private_constant :ATTEMPTS, :LONGEST_PAUSE, :Overtaken

    class << self
      # Calls the block until no other writer interrupts it.
      #
      # @param failure [String] the message of the error
      # @return [Object] the result of the block
      # @raise [ConflictError] other writers were faster each time
      def repeat(failure = 'others keep changing it: try again')
        key = nil
        ATTEMPTS.times do |attempt|
          return yield
        rescue Overtaken => e
          key = e.key
          # At random, so that two writers do not meet again.
          sleep(rand * [0.001 * (2**attempt), LONGEST_PAUSE].min)
        end
        raise ConflictError.new(failure).about(key)
      end

      # Runs a write inside {repeat}.
      #
      # @return [Object] the result of the block
      # @raise [ConflictError] its condition does not hold any more
      def attempt
        yield
      rescue ConditionError => e
        overtaken(e.key)
      end

      # Ends an attempt inside {repeat}.
      #
      # @param key [String, nil] the path of the key that another writer has changed; nil for none, or several
      # @raise [ConflictError]
      def overtaken(key = nil)
        raise Overtaken.new('another writer was faster').about(key), cause: nil
      end
    end
  end
end
