# frozen_string_literal: true

require 'open3'
require 'rbconfig'
require_relative 'preloaded_ruby'

# How to run an application of the bundle's Puppet in a process of its own.
module PuppetCommand
  # The script of Puppet's command.
  SCRIPT = "require 'puppet/util/command_line'; Puppet::Util::CommandLine.new('puppet', ARGV).execute"

  # Code that loads Puppet, and the types that each run loads with all their providers.
  LOADING = <<~RUBY
    %w[util/command_line application/apply configurer].each { |name| require "puppet/\#{name}" }
    %w[component file filebucket group schedule service stage user whit].each { |name| require "puppet/type/\#{name}" }
    require 'facter'
  RUBY

  PRELOADED = PreloadedRuby.new(LOADING, PreloadedRuby::LIBRARY)
  private_constant :PRELOADED

  # All folders that Puppet makes at its start. Without them, it would use folders of the machine, which may be missing.
  FOLDERS = %w[confdir codedir vardir publicdir rundir logdir].freeze

  # Runs an application of Puppet, which finds the gem of this checkout.
  #
  # @return [Array(String, Process::Status)] the output, and how it ended
  def self.run(*arguments)
    return PRELOADED.capture2e(SCRIPT, arguments) if Process.respond_to?(:fork)

    Open3.capture2e(RbConfig.ruby, *PreloadedRuby::LIBRARY, '-e', SCRIPT, *arguments)
  end

  # @param place [String] a folder of the example
  # @return [Array<String>] the options that put all of Puppet's folders there
  def self.folders(place)
    FOLDERS.map { |name| "--#{name}=#{File.join(place, name)}" }
  end
end
