# frozen_string_literal: true

require 'simpkv/backend/default_root'
require 'simpkv/config/isolation'
require 'simpkv/config'

module Simpkv
  class Backend
    # The place of a backend of type file: the configured folder, or a default one ({DefaultRoot}).
    class FilePlace
      # The options that a store takes.
      OPTIONS = Config::TYPES.fetch('file').map(&:name).freeze
      private_constant :OPTIONS

      # @param root [String] the folder of a store
      # @param folders [Array<String>] of the store
      # @yieldparam file [String] the temporary file of a killed writer. A live one has locked its file, or renamed it
      def self.each_leftover(root, folders)
        Dir.glob(folders.map { |folder| File.join(folder, '**/.skv~*') }, File::FNM_DOTMATCH, base: root).each do |name|
          file = File.join(root, name)
          File.open(file, File::RDONLY | File::NOFOLLOW | File::NONBLOCK) do |open|
            yield file if open.stat.file? && open.flock(File::LOCK_SH | File::LOCK_NB) && File.identical?(open, file)
          end
        rescue SystemCallError
          nil # Its writer has renamed it meanwhile, or this user has no rights there.
        end
      end

      # @param settings [Hash{String => Object}] those of {Config.typed}
      # @param warn [#call] receives a warning if the store is made in another place than the preferred one
      # @yieldreturn [Array(Array<String>, Array<String>)] `vardirs` and `more` of {DefaultRoot}. Called only if there
      #   is no `root_path`
      def initialize(settings, warn, **)
        @settings = settings
        @warn = warn
        @default = DefaultRoot.new(settings['id'], *yield) unless settings['root_path']
      end

      # @return [String] the folder; it may be missing
      # @raise [ConfigError, SystemCallError] as {DefaultRoot#existing}
      def path
        @settings['root_path'] || existing || @default.preferred
      end

      # @return [String] the place, for people
      alias location path

      # @return [Array] the same for two places with the same keys
      # @raise [ConfigError, SystemCallError] as {#path}
      def identity
        ['file', Isolation.canonical(path)]
      end

      # @return [nil] the kernel checks the rights of the process
      def bound_as; end

      # @return [Boolean] whether the folder exists
      # @raise [ConfigError, SystemCallError] as {#path}
      def there?
        File.directory?(path)
      end

      # @return [String, nil] the preferred place, if the store is in another one
      def passed_over
        @default.preferred if @default && path != @default.preferred
      end

      # Opens the store, or makes it if it is missing.
      #
      # @return [Store]
      # @raise [Error] it can be made nowhere
      def open
        place = @settings['root_path'] || existing
        store, warning = place ? open_at(place) : @default.make { |made| open_at(made) }
        @warn.call(warning) if warning
        store
      end

      # @return [Store] opened where it is, or would be
      def open_unchecked
        open_at(path)
      end

      # Opens the store for calls that remove what they find: a link may lead to the keys of another environment.
      #
      # @return [Store]
      def open_without_links
        open_at(path, 'follow_links' => false)
      end

      # @return [Store] one that exists
      # @raise [ConfigError] as {#check}
      def open_existing
        place = path
        check_at(place)
        open_at(place).tap { @opened = place }
      end

      # Checks that the store exists, in the place where {#open_existing} opened it.
      #
      # @return [void]
      # @raise [ConfigError] it does not
      def check
        check_at(@opened || path)
      end

      # @param error [Error] of the store
      # @return [String] its message
      def explain(error)
        error.message
      end

      private

      # The core reports other errors, such as a missing permission.
      def check_at(place)
        File.stat(File.join(place, 'globals'))
      rescue Errno::ENOENT, Errno::ENOTDIR
        raise MissingStoreError, "there is no store in the folder '#{place}': if it is a mount point, mount its " \
                                 "file system; correct 'root_path', or make a new store with 'simpkv init'", cause: nil
      rescue SystemCallError
        nil
      end

      def existing
        @default.existing
      end

      def open_at(place, more = {})
        Store.open('file', @settings.slice(*OPTIONS).merge({ 'root_path' => place }, more))
      end
    end
  end
end
