# frozen_string_literal: true

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
    Dir.mktmpdir(prefix, *(MEMORY if File.writable?(MEMORY)), &block)
  end
end
