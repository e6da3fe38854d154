# frozen_string_literal: true

require 'etc'
require 'fileutils'

module Simpkv
  module Query
    class Index
      # The folder of an index, and the names of its files. Nobody else may read them, or put another file in their
      # place: the folder belongs to this user, and so does each file, which is no link and has the mode 0600.
      class Place
        # The folders of a service, in which this one may make a folder; and the variables that name those of a user.
        ON_DISK = '/var/cache/simpkv'
        IN_MEMORY = '/run/simpkv'
        NAME = 'index'
        # The ends of the names of the files that are locked.
        WRITER = '.lock'
        USE = '.use'
        FILE = /\A(?<name>(?<estate>\h+)(?:-\h+)?)\.(?:db|lock|use)\z/.freeze
        private_constant :ON_DISK, :IN_MEMORY, :NAME, :WRITER, :USE, :FILE

        class << self
          # @param option [String, nil] the option `index` of `server`
          # @param secret [Boolean] whether the backend of the estate is encrypted: then nothing of it gets to a disk
          # @return [String] the folder of the index
          # @raise [ConfigError] there is no folder in memory that this user may use
          def choose(option, secret)
            return option if option

            parents = secret ? [IN_MEMORY, own_in_memory] : [ON_DISK, own_on_disk]
            parent = parents.compact.find { |folder| usable?(folder) && own?(File.join(folder, NAME)) }
            raise ConfigError, refusal(secret) unless parent

            File.join(parent, NAME)
          end

          # @return [Array<String>] the folders on a disk where an index may be
          def on_disk
            [ON_DISK, own_on_disk].compact.map { |parent| File.join(parent, NAME) }
          end

          private

          # A folder, or one in which this user can make it.
          def usable?(folder)
            stat = File.lstat(folder)
            stat.directory? && (stat.owned? || Process.euid.zero?) && File.writable?(folder)
          rescue Errno::ENOENT
            File.dirname(folder) != folder && usable?(File.dirname(folder))
          rescue SystemCallError
            false
          end

          # Root has an index of its own beside that of the user of the service.
          def own?(folder)
            File.lstat(folder).owned?
          rescue Errno::ENOENT
            true
          end

          def own_in_memory
            folder = ENV['XDG_RUNTIME_DIR'].to_s
            File.join(folder, 'simpkv') if folder.start_with?('/')
          end

          def own_on_disk
            folder = ENV['XDG_CACHE_HOME'].to_s
            return File.join(folder, 'simpkv') if folder.start_with?('/')

            File.join(Dir.home, '.cache/simpkv')
          rescue ArgumentError # This user has no home.
            nil
          end

          def refusal(secret)
            why = secret ? "the store is encrypted, and there is no folder in memory (#{IN_MEMORY})" : 'there is none'
            "the index of queries needs a folder that this user may write to: #{why}. Name one with the option " \
              "'index' of 'server'"
          end
        end

        # @return [String]
        attr_reader :folder

        # @param folder [String]
        # @param name [String] of the index in it: hexadecimal digits of the estate, and after a '-' of what it holds
        # @param former [Array<String>] other folders, in which there should be no index of the estate any more
        def initialize(folder, name, former = [])
          @folder = File.expand_path(folder)
          @name = name
          @former = former.map { |path| File.expand_path(path) } - [@folder]
        end

        # @return [String] the file of the database
        def database
          "#{path}.db"
        end

        # Makes the folder if it is missing.
        #
        # @return [void]
        # @raise [ConfigError] the folder or a file could be another user's
        def prepare
          FileUtils.mkdir_p(File.dirname(@folder))
          begin
            Dir.mkdir(@folder, 0o700)
          rescue Errno::EEXIST
            nil
          end
          check
        rescue SystemCallError => e
          raise ConfigError, "the folder of the index cannot be used: #{e.message}", cause: nil
        end

        # @return [Boolean] whether there is a database
        # @raise [ConfigError] as {#prepare}
        def there?
          check
          File.exist?(database)
        rescue Errno::ENOENT
          false
        end

        # Opens the file that the writer locks, or makes it. The caller closes it.
        #
        # @return [File]
        # @raise [ConfigError] the file could be another user's
        def lock_file
          open_lock(WRITER)
        end

        # Opens the file that all who use the index lock together, or makes it. The caller closes it.
        #
        # @return [File]
        # @raise [ConfigError] the file could be another user's
        def use_file
          open_lock(USE)
        end

        # @param file [File] of {#use_file}
        # @return [Boolean] whether it is there now. Somebody may have deleted it before this process locked it
        def held?(file)
          File.identical?(file, "#{path}#{USE}")
        end

        # Deletes the other indexes of the same estate that no process uses, here and in former folders of this user.
        #
        # @return [void]
        def delete_unused
          (others + former).each do |other|
            other.check_folder
            file = other.use_file
            other.delete_all if file.flock(File::LOCK_EX | File::LOCK_NB) && other.held?(file)
          rescue ConfigError, SystemCallError
            nil # It belongs to somebody else, or somebody else has made the file, or deleted it.
          ensure
            file&.close
          end
        end

        # @return [Array<Place>] the indexes of the same estate in former folders that this user may see
        def former
          @former.flat_map do |folder|
            of_estate(folder)
          rescue SystemCallError
            []
          end
        end

        # Makes the file of the database with its mode. SQLite gives its other files the same one.
        #
        # @return [void]
        def touch
          File.new(database, File::WRONLY | File::CREAT | File::EXCL, 0o600).close
        rescue Errno::EEXIST
          nil
        end

        # @return [Array] tells the file of the database from one that takes its place later; empty if there is none
        def identity
          stat = File.lstat(database)
          [stat.dev, stat.ino]
        rescue Errno::ENOENT
          []
        end

        # Deletes the database.
        #
        # @return [void]
        def delete
          FileUtils.rm_f(files)
        end

        protected

        def check_folder
          stat = File.lstat(@folder)
          refuse(@folder) unless stat.directory? && stat.owned? && stat.mode.nobits?(0o022)
          check_parent
        end

        # The caller has locked {#use_file}.
        def delete_all
          delete
          FileUtils.rm_f([WRITER, USE].map { |ending| "#{path}#{ending}" })
        end

        private

        def path
          File.join(@folder, @name)
        end

        def open_lock(ending)
          file = File.new("#{path}#{ending}", File::RDWR | File::CREAT | File::NOFOLLOW, 0o600)
          refuse(file.path) unless mine?(file.stat)
          file
        rescue SystemCallError => e
          raise ConfigError, "the lock of the index cannot be used: #{e.message}", cause: nil
        end

        def others
          of_estate(@folder).reject { |other| other.database == database }
        end

        # @return [Array<Place>] the indexes of the same estate in a folder
        def of_estate(folder)
          names = Dir.children(folder).map { |file| FILE.match(file) }.compact
          names.select! { |match| @name.start_with?(match[:estate]) }
          names.map { |match| match[:name] }.uniq.map { |name| Place.new(folder, name) }
        end

        def files
          ['', '-wal', '-shm', '-journal'].map { |suffix| "#{database}#{suffix}" }
        end

        def check
          check_folder
          files.each { |file| check_file(file) }
        end

        # Its owner, or whoever may write to it, could put another folder in the place of this one.
        def check_parent
          stat = File.stat(File.dirname(@folder))
          safe = stat.mode.nobits?(0o022) || (stat.sticky? && stat.uid.zero?)
          refuse(File.dirname(@folder)) unless safe && (stat.owned? || stat.uid.zero?)
        end

        def check_file(file)
          refuse(file) unless mine?(File.lstat(file))
        rescue Errno::ENOENT
          nil
        end

        def mine?(stat)
          stat.file? && stat.owned? && stat.mode.nobits?(0o077)
        end

        def refuse(path)
          raise ConfigError, "the index of queries cannot be in '#{@folder}': '#{path}' is a link, belongs to " \
                             'another user, or has rights for others. Choose a folder of your own, or correct owner ' \
                             'and mode'
        end
      end
      private_constant :Place
    end
  end
end
