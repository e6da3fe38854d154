# frozen_string_literal: true

require 'simpkv/cli/output'

module Simpkv
  module Cli
    # Looks at everything below some folders of a store: names at once, documents several folders at a time, so that the
    # way to a server and back is not waited for once a folder.
    class Walk
      # All that a store holds is below these.
      ROOTS = %w[globals environments].freeze

      NO_NAME = 'no key can be called that: it is not UTF-8, or has control characters'
      private_constant :NO_NAME

      # @param store [Store]
      # @param jobs [Integer] how many folders at a time
      def initialize(store, jobs: 8)
        @store = store
        @jobs = jobs
        @lock = Mutex.new
      end

      # @param roots [Array<String>] paths of folders; what is not there is passed over
      # @param errors [Hash{String => String}] filled with the keys that cannot be read, and why
      # @yieldparam path [String] of a key
      # @yieldparam document [String]
      # @yieldreturn whatever; the block may not call a store, and runs in one thread at a time
      # @return [Array<String>] the paths of all folders, the roots included
      # @raise [Simpkv::Error] a folder cannot be read
      def each(roots, errors = {}, &block)
        waiting = Queue.new
        roots.each { |root| waiting << root }
        @open = roots.length
        return [] if roots.empty?

        found = Array.new(@jobs) { Thread.new { take(waiting, errors, &block) } }
        found.flat_map(&:value)
      ensure
        found&.each(&:kill)
      end

      # The names of everything, without what is in it: also of keys that cannot be read.
      #
      # @param roots [Array<String>] paths of folders; what is not there is passed over
      # @return [Hash] `{keys: [path], folders: [path], errors: {path => why}}`, sorted; the roots are not among the
      #   folders
      # @raise [Simpkv::Error] a folder cannot be read
      def names(roots)
        errors = {}
        keys, folders = roots.map { |root| names_below(root, errors) }.transpose.map { |paths| paths.flatten(1).sort }
        { keys: keys || [], folders: folders || [], errors: errors }
      end

      private

      # @return [Array(Array<String>, Array<String>)] keys and folders
      def names_below(root, errors)
        found = @store.tree(root, values: false)
        note(root, found[:errors], errors)
        [found[:keys].keys, found[:folders]].map do |paths|
          fine, odd = paths.partition { |path| name?(path) }
          # What is below an odd folder is not worth a word of its own.
          note(root, odd.select { |path| name?(File.dirname(path)) }.to_h { |path| [path, NO_NAME] }, errors)
          fine.map { |path| "#{root}/#{path}" }
        end
      rescue NotFoundError
        [[], []]
      end

      def take(waiting, errors, &block)
        Thread.current.report_on_exception = false
        folders = []
        while (folder = waiting.pop)
          below = look(folder, errors, &block)
          folders << folder if below
          settle(waiting, below || [])
        end
        folders
      rescue StandardError
        waiting.close
        raise
      end

      # The last folder that has nothing below it ends the walk.
      def settle(waiting, below)
        @lock.synchronize do
          @open += below.length - 1
          below.each { |folder| waiting << folder }
          waiting.close if @open.zero?
        end
      rescue ClosedQueueError
        nil
      end

      # @return [Array<String>, nil] the folders in it; nil when it is not there
      def look(folder, errors)
        odd = []
        found = @store.list(folder) do |name, document|
          name?(name) ? @lock.synchronize { yield "#{folder}/#{name}", document } : odd << name
          nil
        end
        folders, more = found[:folders].partition { |name| name?(name) }
        note(folder, found[:errors].merge((odd + more).to_h { |name| [name, NO_NAME] }), errors)
        folders.map { |name| "#{folder}/#{name}" }
      rescue NotFoundError
        nil
      end

      # Files may be called anything.
      def name?(name)
        name.valid_encoding? && !name.match?(/[[:cntrl:]]/)
      end

      def note(folder, found, errors)
        @lock.synchronize { found.each { |name, why| errors["#{folder}/#{Output.name(name)}"] = why } }
      end
    end
  end
end
