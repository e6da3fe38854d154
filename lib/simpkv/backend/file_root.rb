# frozen_string_literal: true

require 'simpkv/backend/default_root'

module Simpkv
  # The folder of a backend of type file: the configured one, or a default ({DefaultRoot}).
  class FileRoot
    # @param settings [Hash{String => Object}] those of {Config.typed}
    # @yieldreturn [Array(Array<String>, Array<String>)] `vardirs` and `more` of {DefaultRoot}. Called only if there is
    #   no `root_path`
    def initialize(settings)
      @settings = settings
      @default = DefaultRoot.new(settings['id'], *yield) unless settings['root_path']
    end

    # @return [String] the folder; it may be missing
    # @raise [ConfigError, SystemCallError] as {DefaultRoot#existing}
    def path
      @settings['root_path'] || existing || @default.preferred
    end

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
    # @return [Array(Store, String)] the store, and a warning if it is not in the preferred place
    # @raise [Error] it can be made nowhere
    def make
      place = @settings['root_path'] || existing
      place ? [open_at(place), nil] : @default.make { |made| open_at(made) }
    end

    # @return [Store]
    def open
      open_at(path)
    end

    # Opens the store for calls that remove what they find: behind a link may be the keys of another environment.
    #
    # @return [Store]
    def open_without_links
      open_at(path, 'follow_links' => false)
    end

    # Opens a store that exists.
    #
    # @return [Store]
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

    private

    # The core reports other errors, such as a missing permission.
    def check_at(place)
      File.stat(File.join(place, 'globals'))
    rescue Errno::ENOENT, Errno::ENOTDIR
      raise ConfigError, "there is no store in the folder '#{place}': if it is a mount point, mount its file system; " \
                         "correct 'root_path', or make a new store with 'simpkv init'", cause: nil
    rescue SystemCallError
      nil
    end

    def existing
      @default.existing
    end

    def open_at(place, more = {})
      Store.open('file', @settings.slice('lock_timeout_seconds').merge({ 'root_path' => place }, more))
    end
  end
end
