# frozen_string_literal: true

require 'fileutils'
require 'open3'
require 'rbconfig'
require_relative '../../rakelib/module_files'
require_relative '../support/puppet_command'

# Runs applications of Puppet in processes of their own, with folders that each example makes.
module PuppetProcess
  PROJECT = File.expand_path('../..', __dir__)

  # Puppet cannot replace its state files in memory.
  def self.included(group)
    group.let(:home) { Dir.mktmpdir('simpkv-puppet') }
    group.after { FileUtils.remove_entry(home) }
  end

  # @return [String] a modulepath with the module as `puppet module install` makes it, without the gem
  def installed_module
    modules = File.join(home, 'modules')
    Dir.chdir(PROJECT) { ModuleFiles.install(File.join(modules, 'simpkv')) }
    modules
  end

  # @param name [String] of a gem
  # @param library [String] its folder of code
  # @return [String] a command of a shell that installs it for Puppet without the gems of the bundle
  def installing(name, library)
    gems = File.join(home, 'gems')
    title = "#{name}-#{Simpkv::VERSION}"
    specification = File.join(home, "#{name}.gemspec")
    File.write(specification, <<~RUBY)
      Gem::Specification.new('#{name}', '#{Simpkv::VERSION}') { |gem| gem.summary = gem.author = 'simpkv' }
    RUBY
    "mkdir -p #{gems}/specifications #{gems}/gems/#{title} && ln -s #{library} #{gems}/gems/#{title}/lib && " \
      "cp #{specification} #{gems}/specifications/#{title}.gemspec"
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
