# frozen_string_literal: true

module Simpkv
  module Cli
    # Waits for a folder that does not exist yet, for a watch.
    class AwaitedFolder
      # @param store [Store, Layer]
      # @param folder [String]
      # @param seconds [Numeric] the pause between two looks for the folder
      # @param warn [#call] receives the error when the folder is missing, and when a look for it fails
      def initialize(store, folder, seconds, warn)
        @store = store
        @folder = folder
        @seconds = seconds
        @warn = warn
      end

      # Passes on the changes of a watch. If the folder is missing, the watch is ready at once. When the folder is
      # there, all its keys are changes.
      #
      # @param watch [#call] yields {Change}s to its block, or raises {NotFoundError}; it is called again
      # @yieldparam change [Change]
      # @return [void] only if the block breaks
      # @raise [NotFoundError] the folder was there, and is gone; or the name is a key's
      # @raise [Error] of the watch
      def each(watch, &block)
        begun = false
        watch.call do |change|
          begun = true
          yield change
        end
      rescue NotFoundError => e
        raise if begun || @store.kind(@folder) == :key

        @warn.call(e)
        yield Change.new(:ready, '', '', true)
        each_later(watch, &block)
      end

      private

      def each_later(watch, &block)
        begun = false
        wait
        watch.call do |change|
          begun ? yield(change) : first(change, &block)
          begun = true
        end
      rescue NotFoundError
        begun ? raise : retry
      end

      # Pauses before each look: a replica that lags may know the folder, and not the entry that the watch reads.
      def wait
        loop do
          sleep(@seconds)
          break if exists?
        end
      end

      def exists?
        @store.kind(@folder) == :folder
      rescue TransientError => e
        @warn.call(e)
        false
      end

      def first(change)
        keys = @store.tree(@folder, values: false)[:keys].keys
        keys.sort.each { |key| yield Change.new(:put, key, change.cookie) }
      end
    end
  end
end
