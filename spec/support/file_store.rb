# frozen_string_literal: true

require 'fileutils'
require_relative 'scratch'

# Creates a root folder for each example, and a store in it.
module FileStoreHelp
  # Runs the example with `root` and `store`, and cleans up.
  def self.included(group)
    group.let(:scratch) { Scratch.make('simpkv-spec') }
    group.let(:root) { File.join(scratch, 'root') }
    group.let(:store) { open_store }
    group.after do
      store.close
      FileUtils.chmod_R('u+rwx', scratch)
      FileUtils.remove_entry(scratch)
    end
  end

  # @param root_path [String]
  # @param options [Hash{String => Object}]
  # @return [Simpkv::Store]
  def open_store(root_path = root, options = {})
    Simpkv::Store.open('file', { 'root_path' => root_path, 'lock_timeout_seconds' => 60 }.merge(options))
  end

  # @return [String] the path of a key or folder
  def path(name)
    File.join(root, name)
  end

  # @return [String] the mode of a file in octal digits, such as '0660'
  def mode(name)
    format('%04o', File.stat(path(name)).mode & 0o7777)
  end

  # Locks a key file as another program does.
  # @return the result of the block
  def with_lock(name)
    File.open(path(name), 'r+') do |file|
      raise 'the key is locked already' unless file.flock(File::LOCK_EX | File::LOCK_NB)

      yield
    end
  end

  # @return [Float] the seconds that the block took
  def seconds
    before = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    yield
    Process.clock_gettime(Process::CLOCK_MONOTONIC) - before
  end

  # @return [Array<String>] the names in a folder on the disk
  def names_in(folder)
    Dir.entries(path(folder)) - %w[. ..]
  end
end
