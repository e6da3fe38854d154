# frozen_string_literal: true

require 'etc'
require 'simpkv/default_root'

module Simpkv
  module Cli
    # The folder of a file backend: the configured one, or the default that functions use as well.
    class FileRoot
      # Those who run puppetserver.
      USERS = %w[puppet pe-puppet].freeze
      private_constant :USERS

      # @param settings [Hash] of the backend
      # @param vardirs [Array<String>] Puppet's
      def initialize(settings, vardirs)
        @settings = settings
        @default = DefaultRoot.new(settings['id'], vardirs) unless settings['root_path']
      end

      # @return [String] the folder, which need not be there yet
      # @raise [ConfigError] several could be the default
      # @raise [Failure] this user may not look for it
      def path
        @settings['root_path'] || existing || @default.preferred
      end

      # @return [Boolean] whether there is a folder to read
      def there?
        File.directory?(path)
      end

      # @return [String, nil] the place where no store was made, as this one exists
      def passed_over
        @default.preferred if @default && path != @default.preferred
      end

      # Opens the store.
      #
      # @return [Store]
      def open
        open_at(path)
      end

      # Makes the store if it is missing, for the user of puppetserver where root does so, and opens it.
      #
      # @return [Store]
      def make
        return open if there?

        store, warning = configured_or_existing? ? [open, nil] : @default.make { |place| open_at(place) }
        warn "simpkv: #{warning}" if warning
        give_to_puppet
        store
      end

      # @return [String] whose it is
      def owner
        uid = File.stat(path).uid
        Etc.getpwuid(uid).name
      rescue ArgumentError
        "uid #{uid}"
      end

      private

      def configured_or_existing?
        @default.nil? || !existing.nil?
      end

      def existing
        @default.existing
      rescue SystemCallError => e
        raise Failure.new("file/#{@settings['id']}: this user may not look for the default store (#{e.message}): run " \
                          "as root or as the user of puppetserver, or set 'root_path'", Failure::NO_PERMISSION)
      end

      def open_at(place)
        Store.open('file', { 'root_path' => place }.merge(@settings.slice('lock_timeout_seconds')))
      end

      # A store of root's would be closed to puppetserver.
      def give_to_puppet
        user = puppet if Process.euid.zero?
        return unless user && File.stat(path).uid.zero?

        File.chown(user.uid, user.gid, path, *%w[globals environments].map { |name| File.join(path, name) })
      end

      def puppet
        USERS.each do |name|
          return Etc.getpwnam(name)
        rescue ArgumentError
          next
        end
        nil
      end
    end
  end
end
