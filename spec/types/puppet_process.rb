# frozen_string_literal: true

require 'open3'
require 'rbconfig'

# Runs applications of Puppet in processes of their own, with folders that each example makes.
module PuppetProcess
  PROJECT = File.expand_path('../..', __dir__)
  PROGRAM = "require 'puppet/util/command_line'; Puppet::Util::CommandLine.new('puppet', ARGV).execute"

  # Puppet cannot replace its state files in memory.
  def self.included(group)
    group.let(:home) { Dir.mktmpdir('simpkv-puppet') }
    group.after { FileUtils.remove_entry(home) }
  end

  # @param library [String, nil] the folder of the gem; nil for no gem
  # @return [Array(String, Integer)] the output, and the exit code
  def puppet(*arguments, library: File.join(PROJECT, 'lib'), modules: File.join(world.dir, 'modules'))
    folders = %w[confdir vardir codedir logdir rundir publicdir].map { |name| "--#{name}=#{File.join(home, name)}" }
    output, status = Open3.capture2e(
      { 'SIMPKV_CONFIG' => ENV.fetch('SIMPKV_CONFIG') }, RbConfig.ruby, *(['-I', library] if library), '-e', PROGRAM,
      arguments.first, '--color=false', "--modulepath=#{modules}", *folders, *arguments.drop(1)
    )
    [output.gsub(%r{^Error: Facter: .*/proc/.*\n}, ''), status.exitstatus]
  end

  # @return [Array<String>] the contents of all files that Puppet has left in its folders
  def left_by_puppet
    Dir[File.join(home, '**', '*')].select { |name| File.file?(name) }.map { |name| File.binread(name) }
  end
end
