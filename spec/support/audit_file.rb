# frozen_string_literal: true

require 'json'
require_relative 'scratch'

# An audit log for each example.
module AuditFile
  # Runs the example with `audit_file`, and cleans up.
  def self.included(group)
    group.let(:audit_folder) { Scratch.make('simpkv-audit') }
    group.let(:audit_file) { File.join(audit_folder, 'audit.log') }
    group.after { FileUtils.rm_rf(audit_folder) }
  end

  # @return [Hash{String => Object}] the option `audit` of a backend
  def audit(**options)
    { 'to' => audit_file }.merge(options.transform_keys(&:to_s))
  end

  # @return [Array<Hash>] the lines of the log; each has the members that all lines have
  def lines
    return [] unless File.exist?(audit_file)

    File.readlines(audit_file, encoding: 'UTF-8').map { |line| JSON.parse(line) }
  end

  # @return [Array<String>] each line as `put production:app/x written`, or `put global:app/x written`
  def operations
    lines.map do |line|
      "#{line['operation']} #{line['environment'] || 'global'}:#{line['key']} #{line['outcome']}"
    end
  end

  # Runs the block with a file system that has room for some lines, and makes it full.
  #
  # @yieldparam folder [String]
  # @yieldparam fill [Proc] takes all space
  def on_small_disk
    folder = Scratch.make('simpkv-full')
    system('mount', '-t', 'tmpfs', '-o', 'size=512k', 'none', folder, exception: true)
    fill = proc do
      [65_536, 4096].each do |size|
        loop { File.write(File.join(folder, 'filler'), "\0" * size, mode: 'ab') }
      rescue Errno::ENOSPC
        next
      end
    end
    yield folder, fill
  ensure
    system('umount', '--lazy', folder)
    FileUtils.rm_rf(folder)
  end
end
