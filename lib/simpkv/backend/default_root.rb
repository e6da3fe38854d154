# frozen_string_literal: true

require 'simpkv/backend/vardirs'
require 'simpkv/config/unit_test'

module Simpkv
  # The root of a file backend without `root_path`. Functions and the command `simpkv` find it by the same rule, so that
  # both use one store: the place below /var/simp if it exists; else the one below a vardir of Puppet if that exists;
  # else the first is made, or if that is not possible the second (docs/adr/0019). In a unit test, it is the one below
  # Puppet's vardir, which must be a temporary folder ({UnitTest}): the others are the stores of this machine.
  class DefaultRoot
    # @return [String] the first place
    attr_reader :preferred

    # @param id [String] of the backend
    # @param vardirs [Array<String>] Puppet's; the first is where a store is made if /var/simp cannot be used
    # @param more [Array<String>] vardirs whose stores count as well, if this user can see them
    def initialize(id, vardirs, more = [])
      @id = id
      @preferred = Config.default_root_path(id)
      @fallbacks = vardirs.map { |vardir| below(vardir) }
      @more = more.map { |vardir| below(vardir) } - @fallbacks
      keep_to(vardirs.first) if UnitTest.running?
    end

    # @return [String, nil] the place that exists
    # @raise [ConfigError] several exist, and more than one could hold the keys
    # @raise [SystemCallError] this user may not see whether a place exists
    def existing
      places = [preferred].select { |place| there?(place) }
      places = (places + [*@fallbacks, *@more].select { |place| readable?(place) }).uniq { |place| identity(place) }
      places.empty? ? @fallbacks.find { |place| there?(place) } : the_one_of(places)
    end

    # Makes a store.
    #
    # @yieldparam place [String] to open a store in
    # @yieldreturn [Store]
    # @return [Array(Store, String)] the store, and a warning if it is not in the preferred place
    # @raise [Error] it can be made nowhere
    def make(&block)
      remove_at_exit if @temporary && !File.exist?(@temporary)
      [yield(preferred), nil]
    rescue Error => e
      why = explained(e)
      raise e.reworded(why), cause: nil if fallback == preferred

      [make_fallback(why, &block), "#{why}. Using '#{fallback}' instead."]
    end

    private

    def keep_to(vardir)
      UnitTest.check(vardir, "the vardir '#{vardir}'")
      @temporary = vardir
      @preferred = below(vardir)
      @fallbacks = [@preferred]
      @more = []
    end

    # rspec-puppet removes the vardir only before it calls a function. Until then, calls find the store of this call.
    def remove_at_exit
      require 'fileutils'
      folder = @temporary
      process = Process.pid
      at_exit { FileUtils.rm_rf(folder) if process == Process.pid }
    end

    def below(vardir)
      File.join(vardir, 'simp', 'simpkv', 'file', @id)
    end

    # The first vardir in which this user can make something.
    def fallback
      @fallbacks.find { |place| File.writable?(place.delete_suffix(below(''))) } || @fallbacks.first
    end

    def make_fallback(why)
      yield fallback
    rescue Error => e
      raise e.reworded("#{why}; #{explained(e)}"), cause: nil
    end

    # The store's message calls the path configured, which it is not.
    def explained(error)
      error.message.sub('Unable to create configured root path', 'Unable to create default root path')
    end

    # Never chooses an empty store beside one with keys: generated passwords would change.
    def the_one_of(places)
      candidates = places.select { |place| place == preferred || (places.length > 1 && keys?(place)) }
      return candidates.first || places.first if candidates.length < 2

      raise ConfigError, "several folders could hold the keys of the file backend '#{@id}', which has no " \
                         "'root_path': '#{candidates.join("', '")}'. Move away all but the one with the keys " \
                         "that are in use, or set 'root_path' to that one"
    end

    # Returns true if there is something of that name. A missing permission is an error, not an absence.
    def there?(place)
      File.lstat(place) && true
    rescue Errno::ENOENT, Errno::ENOTDIR
      false
    end

    # A store that this user cannot read belongs to another user.
    def readable?(place)
      there?(place) && (File.readable?(place) || !File.directory?(place))
    rescue SystemCallError
      false
    end

    # Two names of one folder are one place.
    def identity(place)
      stat = File.stat(place)
      [stat.dev, stat.ino]
    rescue SystemCallError
      place
    end

    def keys?(place)
      %w[globals environments].any? { |folder| file_below?(File.join(place, folder)) }
    end

    def file_below?(folder)
      Dir.children(folder).any? do |name|
        path = File.join(folder, name)
        File.directory?(path) && !File.symlink?(path) ? file_below?(path) : !name.start_with?('.skv~')
      end
    rescue Errno::ENOENT, Errno::ENOTDIR
      false
    end
  end
end
