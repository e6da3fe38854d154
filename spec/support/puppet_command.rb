# frozen_string_literal: true

# How to run an application of the bundle's Puppet in a process of its own.
module PuppetCommand
  # The script of Puppet's command.
  SCRIPT = "require 'puppet/util/command_line'; Puppet::Util::CommandLine.new('puppet', ARGV).execute"

  # All folders that Puppet makes at its start. Without them, it would use folders of the machine, which may be missing.
  FOLDERS = %w[confdir codedir vardir publicdir rundir logdir].freeze

  # @param place [String] a folder of the example
  # @return [Array<String>] the options that put all of Puppet's folders there
  def self.folders(place)
    FOLDERS.map { |name| "--#{name}=#{File.join(place, name)}" }
  end
end
