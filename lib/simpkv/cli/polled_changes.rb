# frozen_string_literal: true

require 'digest'

module Simpkv
  module Cli
    # The changes of a folder, found by comparing one list of it with the next. For stores that cannot be watched. It
    # keeps a digest of each document, so it misses only a change that is undone before the next list.
    class PolledChanges
      # @param store [Store]
      # @param folder [String]
      # @param seconds [Numeric] the pause between two lists
      # @param warn [#call] receives a warning when a list fails: the next one finds what this one could not
      def initialize(store, folder, seconds, warn)
        @store = store
        @folder = folder
        @seconds = seconds
        @warn = warn
      end

      # @yieldparam change [Change] without a cookie
      # @return [void] only if the block breaks
      # @raise [Error] the first list fails, or a later one for another reason than a server that is away or a folder
      #   that cannot be read for now; NotFoundError after the deletions of a folder that is gone
      def each(&block)
        known = listed
        yield Change.new(:ready, '', '', true)
        loop do
          sleep(@seconds)
          current = listed_later(known, &block) or next
          differences(known, current, &block)
          known = current
        end
      end

      private

      def listed_later(known, &block)
        listed { |tree| refuse_hidden(tree, known) }
      rescue TransientError, DeniedError => e
        @warn.call(e)
        nil
      rescue NotFoundError
        differences(known, {}, &block)
        raise
      end

      # @yieldparam tree [Hash] see {Store#tree}
      # @return [Hash{String => String}] a digest of each key's document, or why it cannot be read
      def listed
        tree = @store.tree(@folder, required: true) { |_, document| Digest::SHA256.digest(document) }
        yield tree if block_given?
        tree[:keys].merge(tree[:errors])
      end

      # If a folder cannot be listed, the errors have its path, and the list lacks the keys below it. If a directory
      # hides a folder, the errors have the path of each key below it, and the list lacks the folder.
      #
      # @param tree [Hash] see {Store#tree}
      # @param known [Hash{String => String}]
      # @raise [DeniedError] there is an error about a folder with known keys, which would look deleted or changed
      def refuse_hidden(tree, known)
        fresh = tree[:errors].reject { |path, why| known[path] == why }
        fresh.each do |path, why|
          hidden = known.key?(path) ? hidden_above(path, tree[:folders]) : path
          below = "#{hidden}/"
          raise DeniedError.unreadable(below, why) if hidden && known.any? { |key, _| key.start_with?(below) }
        end
      end

      # @return [String, nil] the folder of a key, unless it is among those that are there
      def hidden_above(path, folders)
        folder, slash, = path.rpartition('/')
        folder unless slash.empty? || folders.include?(folder)
      end

      def differences(known, current)
        (known.keys - current.keys).sort.each { |key| yield Change.new(:delete, key, '') }
        current.sort.each { |key, digest| yield Change.new(:put, key, '') unless known[key] == digest }
      end
    end
  end
end
