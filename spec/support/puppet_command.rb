# frozen_string_literal: true

require 'open3'
require 'rbconfig'
require_relative 'preloaded_program'
require_relative 'preloaded_ruby'

# How to run an application of the bundle's Puppet in a process of its own.
module PuppetCommand
  # The script of Puppet's command.
  SCRIPT = "require 'puppet/util/command_line'; Puppet::Util::CommandLine.new('puppet', ARGV).execute"

  # A library for processes of any Puppet: see there.
  QUICK = File.expand_path('puppet_autoload', __dir__)

  # Code that loads Puppet, and the types that each run loads with all their providers.
  LOADING = <<~RUBY
    require '#{QUICK}'
    %w[util/command_line application/apply configurer].each { |name| require "puppet/\#{name}" }
    %w[component file filebucket group schedule service stage user whit].each { |name| require "puppet/type/\#{name}" }
    require 'facter'
  RUBY

  PRELOADED = PreloadedRuby.new(LOADING, PreloadedRuby::LIBRARY)
  private_constant :PRELOADED

  # Debian's Puppet. It knows no bundle, and finds the gems that the variables of a run name.
  module Debian
    PROGRAM = '/usr/bin/puppet'
    OUTSIDE = ENV.keys.grep(/\A(BUNDLE|GEM|RUBY)/).to_h { |name| [name, nil] }.freeze
    PRELOADED = PreloadedRuby.new(LOADING, [], OUTSIDE)
    private_constant :PROGRAM, :OUTSIDE, :PRELOADED

    # @param method [Symbol] of PreloadedRuby
    # @param arguments [Array<String>]
    # @param libraries [Array<String>] folders that Ruby finds code in
    # @param options [Hash] of the method
    # @return what the method returns
    def self.call(method, arguments, libraries: [], **options)
      PRELOADED.public_send(method, "$LOAD_PATH.unshift(*#{libraries.inspect}); Gem.clear_paths; load '#{PROGRAM}'",
                            arguments, name: PROGRAM, **options)
    end

    # Runs an application of Puppet.
    #
    # @param variables [Hash{String => String, nil}]
    # @return [Array(String, Process::Status)] the output, and how it ended
    def self.run(*arguments, variables: {})
      call(:capture2e, arguments, env: variables)
    end

    # @return [String] a program that does so, for the PATH of other programs
    def self.program(libraries)
      PreloadedProgram.new { |arguments, **options| call(:spawn, arguments, libraries: libraries, **options) }.script
    end
  end

  # All folders that Puppet makes at its start. Without them, it would use folders of the machine, which may be missing.
  FOLDERS = %w[confdir codedir vardir publicdir rundir logdir].freeze

  # Runs an application of Puppet, which finds the gem of this checkout.
  #
  # @return [Array(String, Process::Status)] the output, and how it ended
  def self.run(*arguments)
    return PRELOADED.capture2e(SCRIPT, arguments) if Process.respond_to?(:fork)

    Open3.capture2e(RbConfig.ruby, *PreloadedRuby::LIBRARY, '-e', SCRIPT, *arguments)
  end

  # Starts such a run.
  #
  # @param output [String] the file that receives what it prints
  # @return [Integer] its process
  def self.start(*arguments, output:)
    File.open(output, 'w') { |file| PRELOADED.spawn(SCRIPT, arguments, out: file, err: file) }
  end

  # @return [String] a program that does so, for the PATH of other programs
  def self.program
    @program ||= PreloadedProgram.new { |arguments, **options| PRELOADED.spawn(SCRIPT, arguments, **options) }.script
  end

  # @param place [String] a folder of the example
  # @return [Array<String>] the options that put all of Puppet's folders there
  def self.folders(place)
    FOLDERS.map { |name| "--#{name}=#{File.join(place, name)}" }
  end
end
