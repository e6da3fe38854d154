# frozen_string_literal: true

require 'simpkv/errors'

module Simpkv
  module Query
    class Index
      # Locks of files, among threads and processes.
      module Lock
        # Seconds to wait for another process: it may be making the whole index.
        SECONDS = 300
        # Seconds between two attempts to get the lock.
        STEP = 0.02

        # @param file [File]
        # @param mode [Integer] File::LOCK_EX or File::LOCK_SH
        # @return [void]
        # @raise [TimeoutError] another process did not end
        def self.wait(file, mode)
          deadline = Clock.now + SECONDS
          until file.flock(mode | File::LOCK_NB)
            raise TimeoutError, 'another process keeps writing to the index of queries' if Clock.now > deadline

            sleep STEP
          end
        end
      end
      private_constant :Lock

      # Lets other processes know that this one uses an index, by a lock that all users share. Thread-safe.
      class Use
        # @param place [Place]
        def initialize(place)
          @place = place
          @mutex = Mutex.new
        end

        # Deletes other indexes that nobody uses, the first time.
        #
        # @return [void]
        # @raise [TimeoutError, ConfigError]
        def begin
          @mutex.synchronize do
            next if @file

            @place.prepare
            @file = hold
            @place.delete_unused
          end
        end

        # @return [void]
        def end
          @mutex.synchronize do
            @file&.close
            @file = nil
          end
        end

        private

        # @return [File] locked, and still there
        def hold
          file = @place.use_file
          Lock.wait(file, File::LOCK_SH)
          return file if @place.held?(file)

          file.close
          hold
        end
      end
      private_constant :Use
    end
  end
end
