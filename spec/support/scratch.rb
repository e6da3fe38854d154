# frozen_string_literal: true

require 'fileutils'
require 'tmpdir'

# Temporary folders for stores in files. Puppet cannot replace its state files in such a folder.
module Scratch
  MEMORY = '/dev/shm'
  private_constant :MEMORY

  # Makes a folder in memory, where an fsync takes no time, or in the usual place if there is no file system in memory.
  #
  # @param prefix [String] the beginning of its name
  # @yieldparam folder [String] which is removed after the block
  # @return [String, Object] the folder, or the result of the block
  def self.make(prefix, &block)
    folder = Dir.mktmpdir(prefix, *(MEMORY if File.writable?(MEMORY)))
    return folder unless block

    begin
      block.call(folder)
    ensure
      remove(folder)
    end
  end

  # Removes a folder. A process that ends, such as a worker of a service, may make and remove its own files meanwhile.
  def self.remove(folder, tries = 20)
    FileUtils.remove_entry(folder)
  rescue Errno::ENOENT, Errno::ENOTEMPTY
    raise if tries.zero?

    sleep(0.05)
    remove(folder, tries - 1) if File.exist?(folder)
  end
end
