# frozen_string_literal: true

module Simpkv
  module Cli
    # The place of a file backend, for a command: a store that root makes belongs to the user of puppetserver.
    class StoreFolder < Backend::FilePlace
      # The users that run puppetserver.
      USERS = %w[puppet pe-puppet].freeze
      private_constant :USERS

      # Opens the store, or makes it if it is missing.
      #
      # @return [Store]
      def open
        return open_unchecked if there?

        super.tap { give_to_puppet }
      end

      # @return [String] the name of the folder's owner
      def owner
        require 'etc'
        uid = File.stat(path).uid
        Etc.getpwuid(uid).name
      rescue ArgumentError
        "uid #{uid}"
      end

      private

      def existing
        super
      rescue SystemCallError => e
        raise Failure.new("file/#{@settings['id']}: this user may not look for the default store (#{e.message}): run " \
                          "as root or as the user of puppetserver, or set 'root_path'", Failure::NO_PERMISSION)
      end

      # puppetserver cannot use a store that belongs to root.
      def give_to_puppet
        user = puppet if Process.euid.zero?
        return unless user && File.stat(path).uid.zero?

        File.chown(user.uid, user.gid, path, *%w[globals environments].map { |name| File.join(path, name) })
      end

      def puppet
        require 'etc'
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
