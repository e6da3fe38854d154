# frozen_string_literal: true

require 'open3'
require 'rbconfig'

# Counts instructions, by valgrind. Unlike times, they do not change on a busy machine.
module Callgrind
  LIB = File.expand_path('../../lib', __dir__)
  # `bundle exec` has each Ruby load Bundler, which takes ten seconds here.
  ENVIRONMENT = { 'RUBYOPT' => nil }.freeze
  private_constant :LIB, :ENVIRONMENT

  # @param arguments [Array<String>] options of callgrind, and a command
  # @return [Integer] the instructions that the command takes
  # @raise [RuntimeError] it failed
  def self.count(*arguments)
    output, status = Open3.capture2e(ENVIRONMENT, 'valgrind', '--tool=callgrind', '--callgrind-out-file=/dev/null',
                                     *arguments)
    status.success? ? Integer(output[/Collected : (\d+)/, 1]) : raise(output)
  end

  # @param function [String] of the extension for MRI, or of the core in it
  # @param script [String] Ruby code
  # @return [Integer] the instructions that the script takes inside of the function
  # @raise [RuntimeError] it failed
  def self.count_in_ruby(function, script)
    count("--toggle-collect=#{function}", RbConfig.ruby, '--disable=gems', "-I#{LIB}", '-e',
          "require 'simpkv'; GC.disable; #{script}")
  end
end
