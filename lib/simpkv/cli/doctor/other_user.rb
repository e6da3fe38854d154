# frozen_string_literal: true

require 'etc'

module Simpkv
  module Cli
    # Another user of this machine, such as the user of puppetserver, and the files that this user can read. Only root
    # can check that.
    class OtherUser
      # @param name [String]
      # @return [OtherUser, nil] nil if the user does not exist or is root, or if this process does not run as root
      def self.find(name)
        entry = Etc.getpwnam(name)
        new(entry) if Process.euid.zero? && !entry.uid.zero?
      rescue ArgumentError
        nil
      end

      # @return [String]
      attr_reader :name

      # @param entry [Etc::Passwd]
      def initialize(entry)
        @entry = entry
        @name = entry.name
      end

      # @return [String] the name of the user's group
      def group
        Etc.getgrgid(@entry.gid).name
      rescue ArgumentError
        @entry.gid.to_s
      end

      # Checks as that user, in a child process, so that ACLs and supplementary groups count.
      #
      # @param file [String] an absolute path
      # @param write [Boolean] whether this user has to write it, too
      # @return [String, nil] the file if this user cannot read it, or the first folder above it that this user cannot
      #   enter; nil if neither
      def obstacle(file, write: false)
        reader, writer = IO.pipe
        pid = fork do
          reader.close
          become
          writer.write(first_obstacle(file, write))
          writer.close
          exit!(0)
        end
        writer.close
        reader.read.force_encoding(file.encoding)[/.+/m]
      ensure
        reader&.close
        Process.wait(pid) if pid
      end

      private

      def become
        Process.initgroups(@entry.name, @entry.gid)
        Process::Sys.setgid(@entry.gid)
        Process::Sys.setuid(@entry.uid)
      end

      def first_obstacle(file, write)
        folders = [File.dirname(file)]
        folders.unshift(File.dirname(folders.first)) until folders.first == File.dirname(folders.first)
        usable = File.readable?(file) && (!write || File.writable?(file))
        folders.find { |folder| !File.executable?(folder) } || (file unless usable)
      end
    end
  end
end
