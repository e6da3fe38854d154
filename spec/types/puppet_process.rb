# frozen_string_literal: true

require 'open3'
require 'rbconfig'
require_relative '../support/puppet_command'

# Runs applications of Puppet in processes of their own, with folders that each example makes.
module PuppetProcess
  PROJECT = File.expand_path('../..', __dir__)

  # Puppet cannot replace its state files in memory.
  def self.included(group)
    group.let(:home) { Dir.mktmpdir('simpkv-puppet') }
    group.after { FileUtils.remove_entry(home) }
  end

  # @param gem [Boolean] whether the gem of this checkout is on the load path; otherwise Ruby has the gems below `home`
  #   only
  # @return [Array(String, Integer)] the output, and the exit code
  def puppet(*arguments, gem: true, modules: File.join(world.dir, 'modules'))
    command = [arguments.first, '--color=false', "--modulepath=#{modules}", *PuppetCommand.folders(home),
               *arguments.drop(1)]
    output, status = gem ? PuppetCommand.run(*command) : Open3.capture2e(*without_gem, *command)
    [output, status.exitstatus]
  end

  # @return [Array<String>] the contents of all files that Puppet has left in its folders
  def left_by_puppet
    Dir[File.join(home, '**', '*')].select { |name| File.file?(name) }.map { |name| File.binread(name) }
  end

  private

  # Bundler would know the gems of the bundle only.
  def without_gem
    gems = File.join(home, 'gems')
    folders = $LOAD_PATH.reject { |folder| folder.to_s.start_with?(PROJECT) }.flat_map { |folder| ['-I', folder.to_s] }
    ['env', '-u', 'RUBYOPT', '-u', 'RUBYLIB', "GEM_HOME=#{gems}", "GEM_PATH=#{gems}", RbConfig.ruby, *folders,
     '-e', PuppetCommand::SCRIPT]
  end
end
