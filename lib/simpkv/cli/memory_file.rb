# frozen_string_literal: true

require 'simpkv/cli/failure'

module Simpkv
  module Cli
    # Files in memory that have no name: nobody finds them in a folder, and they are gone when the last process closes
    # them, however it ends.
    module MemoryFile
      FOLDER = '/dev/shm'
      KINDS = %w[tmpfs ramfs].freeze
      private_constant :FOLDER, :KINDS

      class << self
        # @param bytes [String]
        # @return [File] the file, open for reading; the caller closes it
        # @raise [Failure] this system has no place for it
        # @raise [SystemCallError]
        def of(bytes)
          unless memory?(FOLDER)
            raise Failure.new("#{FOLDER} is no file system in memory, and the value must not be on a disk: mount a " \
                              'tmpfs there', Failure::UNAVAILABLE)
          end

          File.open(FOLDER, File::WRONLY | File::TMPFILE | File::EXCL, 0o400) do |file|
            file.binmode.write(bytes)
            file.flush
            File.open(path(file))
          end
        end

        # @param file [File] which a program inherits
        # @return [String] its path in that program
        def path(file)
          "/proc/self/fd/#{file.fileno}"
        end

        private

        # A line of mountinfo has the device as the third field, and the kind behind a hyphen.
        def memory?(folder)
          place = File.stat(folder)
          File.foreach('/proc/self/mountinfo').any? do |line|
            mount, source = line.split(' - ', 2).map(&:split)
            mount[2] == "#{place.dev_major}:#{place.dev_minor}" && KINDS.include?(source.first)
          end
        rescue Errno::ENOENT
          false
        end
      end
    end
  end
end
