# frozen_string_literal: true

require 'digest/sha2'
require 'monitor'
require 'sqlite3'
require 'simpkv/query'
require 'simpkv/query/index/place'
require 'simpkv/query/index/state'
require 'simpkv/query/index/use'
require 'simpkv/query/index/writer'

module Simpkv
  module Query
    # The index of an estate: a database of SQLite in a folder of its own. It is a cache: a damaged one is deleted, and
    # made anew. Thread-safe.
    #
    # The name of its file depends on the estate, on the version of the tables, on the identity that reads the estate in
    # a directory, and on the options that decide what it holds. So processes of other versions, identities or options
    # have others beside it, and no identity gets what only another one may read. A process deletes those of the same
    # estate that nobody uses.
    #
    # Readers and one writer work at the same time, in any number of processes. A file lock chooses the writer.
    class Index
      # Milliseconds to wait for SQLite's own locks, which are short.
      BUSY_MS = 5000
      # SQLITE_OPEN_NOFOLLOW, which the gem does not name.
      NOFOLLOW = 0x01000000
      # The number of pages of 4 KiB after which the log is copied into the database.
      CHECKPOINT_PAGES = 4000
      private_constant :BUSY_MS, :NOFOLLOW, :CHECKPOINT_PAGES

      # The options of the estate that decide what the index holds.
      OPTIONS = %w[catalogs node_ttl report_ttl reports secret_names skip_undecodable].freeze
      private_constant :OPTIONS

      # @param estate [Estate]
      # @param folder [String, nil] the option `index` of `server`
      # @return [Index] the one of an estate. Nothing is made yet
      # @raise [ConfigError] it has no place, or the one of the estate cannot be found
      def self.of(estate, folder = nil)
        new(Place.choose(folder, estate.encrypted?), Native.generate(estate.identity),
            Native.generate([estate.bound_as, estate.options.slice(*OPTIONS)]),
            former: estate.encrypted? ? Place.on_disk : [])
      end

      # Opens a database of SQLite.
      #
      # @param path [String] of an index that exists
      # @return [SQLite3::Database]
      # @raise [SQLite3::Exception]
      def self.open(path)
        database = SQLite3::Database.new(path, flags: SQLite3::Constants::Open::READWRITE | NOFOLLOW)
        database.busy_timeout = BUSY_MS
        database.execute('PRAGMA trusted_schema = OFF')
        yield database if block_given?
        database
      rescue StandardError
        database&.close
        raise
      end

      # Calls the block in a transaction, which is complete only if the block returns. The method of the gem commits if
      # the thread is killed in the block.
      #
      # @param database [SQLite3::Database]
      # @param kind [String] `IMMEDIATE` to write; `DEFERRED` to read what is there at the first statement
      # @return [Object] what the block returns
      # @raise [SQLite3::Exception]
      def self.transaction(database, kind)
        database.execute("BEGIN #{kind}")
        complete = false
        yield.tap { complete = true }
      ensure
        database.execute(complete ? 'COMMIT' : 'ROLLBACK') if database.transaction_active?
      end

      # @param folder [String] the folder of the index; it is made if it is missing
      # @param estate [String] tells the estate from others
      # @param options [String] those that decide what the index holds
      # @param former [Array<String>] folders from which indexes of the estate are deleted: those on a disk, of an
      #   estate that is encrypted now
      def initialize(folder, estate, options = '', former: [])
        @options = options
        @estate = estate
        name = [[estate], [Schema::VERSION, options]].map { |parts| short(parts) }.join('-')
        @place = Place.new(folder, name, former)
        @monitor = Monitor.new
        @use = Use.new(@place)
      end

      # @return [String] the file of the database
      def path
        @place.database
      end

      # @return [Array<String>] the files of databases in former folders, as far as this user may see them
      def former
        @place.former.map(&:database).select { |database| File.exist?(database) }
      end

      # @return [Boolean] whether somebody has made it
      # @raise [ConfigError] see {#reader}
      def there?
        @place.there?
      end

      # Opens the index for reading, or makes an empty one. The caller closes it.
      #
      # @return [SQLite3::Database]
      # @raise [ConfigError] the folder or a file could be another user's
      # @raise [Error] the database cannot be used
      def reader
        guard do
          find_or_make
          self.class.open(path) { |database| database.execute('PRAGMA query_only = ON') }
        end
      end

      # Reads the index. The holder of the lock of writers does so with the connection that it writes with: to open one
      # takes longer than most reads.
      #
      # @yieldparam database [SQLite3::Database] as of {#reader}
      # @return [Object] what the block returns
      # @raise [ConfigError, Error] as {#reader}
      def read(&block)
        guard do
          @locked == Thread.current ? connected(&block) : closing(reader, &block)
        end
      end

      # Reads the index as it is. Makes nothing, and deletes nothing.
      #
      # @yieldparam database [SQLite3::Database]
      # @return [Object] what the block returns; nil without calling it, if there is no index of this version and of
      #   these options
      # @raise [DamagedError] the database is damaged
      # @raise [ConfigError] the folder or a file could be another user's
      # @raise [UnavailableError] the database cannot be used
      def examine
        return unless there?

        guard(method(:refuse_damaged)) do
          opened = self.class.open(path) { |database| database.execute('PRAGMA query_only = ON') }
          closing(opened) { |database| yield database if own?(database) }
        end
      end

      # Writes to the index, in one transaction. Nothing is written if the block raises an error.
      #
      # @yieldparam writer [Writer]
      # @return [void]
      # @raise [TimeoutError] another writer did not end
      # @raise [ConfigError, Error] as {#reader}
      def update
        exclusively do
          guard do
            connected { |database| self.class.transaction(database, 'IMMEDIATE') { yield @writer } }
          end
        end
      end

      # Holds the lock of writers during the block, in which the index stays the same: if it is deleted or replaced
      # nevertheless, reading and writing fail, so that nothing that was read of one counts for the other.
      #
      # @return [Object] what the block returns
      # @raise [TimeoutError] another writer did not end
      # @raise [ConfigError] as {#reader}
      def exclusively
        @monitor.synchronize do
          next yield if @locked

          @use.begin
          @place.prepare
          lock = @place.lock_file
          begin
            Lock.wait(lock, File::LOCK_EX)
            @locked = Thread.current
            yield
          ensure
            @locked = nil
            @held = nil
            lock.close
          end
        end
      end

      # @return [State] when the index was last complete, and what is wrong
      # @raise [ConfigError, Error] as {#reader}
      def state
        read { |database| State.of(database) }
      end

      # Deletes the index. The next refresh makes it anew.
      #
      # @return [void]
      # @raise [TimeoutError, ConfigError]
      def delete
        exclusively do
          disconnect
          @place.delete
          @held = nil
        end
      end

      # Ends the use of the index: others may delete it from now on.
      #
      # @return [void]
      def close
        @monitor.synchronize { disconnect }
        @use.end
      end

      private

      def closing(database)
        yield database
      ensure
        database.close
      end

      # Words errors of SQLite.
      #
      # @param damaged [#call] deals with a damaged database
      def guard(damaged = method(:delete_damaged))
        yield
      rescue SQLite3::CorruptException, SQLite3::NotADatabaseException
        damaged.call
      rescue SQLite3::FullException
        raise FullError, "the disk of the index of queries, #{path}, is full", cause: nil
      rescue SQLite3::Exception => e
        # The further lines are the query.
        raise UnavailableError, "the index of queries cannot be used: #{e.message[/.*/].delete_suffix(':')}", cause: nil
      end

      def delete_damaged
        delete
        raise DamagedError, cause: nil
      end

      def refuse_damaged
        raise DamagedError, 'the file is damaged', cause: nil
      end

      # @return [String]
      def short(parts)
        Digest::SHA256.hexdigest(parts.join("\0"))[0, 12]
      end

      # @return [Boolean] whether there is a database of this version and this estate
      def usable?
        return false unless @place.there?

        database = self.class.open(path)
        own?(database)
      rescue SQLite3::CorruptException, SQLite3::NotADatabaseException
        false
      ensure
        database&.close
      end

      # @return [Boolean] whether a database is one of this version and this estate
      def own?(database)
        State.values(database, *identity.keys) == identity.values
      end

      # @raise [UnavailableError] it is not the one that the holder of the lock has used before
      def find_or_make
        @use.begin
        mine = @locked == Thread.current
        held = @held if mine
        found = usable?
        make unless found
        @held = @place.identity if mine
        return if held.nil? || (found && @held == held)

        raise UnavailableError, 'the index of queries was deleted during a refresh, and is made anew: try again'
      end

      # Another process may have made it meanwhile.
      def make
        exclusively do
          next if usable?

          delete
          @place.touch
          opened = self.class.open(path) { |database| database.execute('PRAGMA journal_mode = WAL') }
          closing(opened) { |database| fill(database) }
        end
      end

      def fill(database)
        self.class.transaction(database, 'IMMEDIATE') do
          database.execute_batch(Schema::TABLES)
          writer = Writer.new(database)
          writer.note(identity)
          writer.close
        end
      end

      # @return [Hash{String => Object}] the values of `meta` that an index of this version and this estate has
      def identity
        { 'version' => Schema::VERSION, 'estate' => @estate, 'options' => @options }
      end

      # After an error, the next call opens the database again.
      #
      # @yieldparam database [SQLite3::Database] that the holder of the lock uses
      def connected
        connect
        yield @database
      rescue StandardError
        disconnect
        raise
      end

      # Another process may have put another database in place of the one that is open.
      def connect
        return @held ||= @opened if @database && @opened == @place.identity

        disconnect
        find_or_make
        @opened = @place.identity
        @database = self.class.open(path) do |database|
          database.execute('PRAGMA synchronous = NORMAL')
          database.execute("PRAGMA wal_autocheckpoint = #{CHECKPOINT_PAGES}")
          database.execute('PRAGMA cache_size = -16384')
        end
        @writer = Writer.new(@database)
      end

      def disconnect
        @writer&.close
        @database&.close
        @writer = @database = @opened = nil
      end
    end
  end
end
