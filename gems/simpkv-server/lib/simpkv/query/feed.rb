# frozen_string_literal: true

require 'simpkv/query'

module Simpkv
  module Query
    # Tells which nodes of an estate have changed: by a list of the inventory and the statuses, whose digests a caller
    # compares with those that it knows; and by watches of these two folders, as far as the store can be watched. What a
    # list shows is true. Watches are faster, and may miss changes: a caller lists again from time to time.
    class Feed
      # The folders of the documents whose digests make the one of a node.
      FOLDERS = %w[inventory status].freeze
      # Seconds after which a folder is watched again if that has failed.
      RETRY = 10
      # Seconds for which a watch gathers changes after it has told of one: to wake for each costs more than to tell of
      # it. Those that have come together are told at once: within so many seconds.
      GATHER = 0.02
      TOGETHER = 0.002
      # What {#trouble} is before the first watches, and while a watch connects again.
      NOT_YET = 'the store is not watched yet'
      LOST = 'the watch has lost its connection'
      # By the kind of a change, what {#trouble} is from then on.
      STATES = { ready: nil, back: nil, resync: nil, lost: LOST }.freeze
      private_constant :FOLDERS, :RETRY, :GATHER, :TOGETHER, :LOST, :STATES

      # @param estate [Estate]
      def initialize(estate)
        @estate = estate
        @mutex = Mutex.new
        @troubles = FOLDERS.to_h { |folder| [folder, NOT_YET] }
        @threads = []
      end

      # @return [Hash{String => String}] the digest of each node of the store, by name
      # @raise [ConfigError, Error] the store cannot be listed
      def list
        @estate.snapshots.digests
      end

      # Watches the store, in threads of their own, until {#unwatch}.
      #
      # @yieldparam certname [String, nil] of a node that was changed; nil if the caller is to list the store, because
      #   the watch has just begun, has lost its connection or has connected again, or because changes were lost.
      #   Called by several threads
      # @return [void]
      def watch(&told)
        @threads = FOLDERS.map { |folder| Thread.new { follow(folder, told) } }
      end

      # @return [void]
      def unwatch
        @threads.each(&:kill).each(&:join)
        @threads = []
      end

      # @return [String, nil] why the caller is not told of changes; nil if it is
      def trouble
        @mutex.synchronize { @troubles.values.compact.first }
      end

      private

      def follow(folder, told)
        loop do
          attempt(folder, told)
          sleep(RETRY)
        end
      end

      # A watch ends by an error only.
      def attempt(folder, told)
        woken = 0
        @estate.store.watch("#{Estate::FOLDER}/#{folder}") do |change|
          told.call(certname(change))
          note(folder, STATES[change.kind]) if STATES.key?(change.kind)
          next if Clock.now - woken < TOGETHER

          sleep(GATHER)
          woken = Clock.now
        end
      rescue Error, ConfigError, SystemCallError => e
        note(folder, e.message)
      rescue StandardError => e # A defect. Its message may have a value.
        note(folder, "internal error: #{e.class.name}, at #{e.backtrace&.first}")
      end

      def note(folder, trouble)
        @mutex.synchronize { @troubles[folder] = trouble }
      end

      # @return [String, nil] nil for a change of anything but a node
      def certname(change)
        change.key if %i[put delete].include?(change.kind) && change.key != Estate::MARKER && !change.key.include?('/')
      end
    end
  end
end
