# frozen_string_literal: true

require 'fileutils'
require_relative '../../rakelib/module_files'
require_relative '../support/puppet_command'

# Runs applications of Puppet in processes of their own, with folders that each example makes.
module PuppetProcess
  PROJECT = File.expand_path('../..', __dir__)

  # Runs Puppet of the bundle without Bundler, which would know the gems of the bundle only, and without this checkout.
  #
  # @param gems [String] the only folder of gems
  # @return [Array(String, Process::Status)] the output, and how it ended
  def self.run_without_gem(gems, command)
    @without_gem ||= begin
      folders = $LOAD_PATH.map(&:to_s).reject { |folder| folder.start_with?(PROJECT) }
      PreloadedRuby.new(PuppetCommand::LOADING, folders.map { |folder| "-I#{folder}" },
                        'RUBYOPT' => nil, 'RUBYLIB' => nil)
    end
    @without_gem.capture2e("Gem.clear_paths; #{PuppetCommand::SCRIPT}", command,
                           env: { 'GEM_HOME' => gems, 'GEM_PATH' => gems })
  end

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
    output, status = gem ? PuppetCommand.run(*command) : PuppetProcess.run_without_gem(File.join(home, 'gems'), command)
    [output, status.exitstatus]
  end

  # @return [Array<String>] the contents of all files that Puppet has left in its folders
  def left_by_puppet
    Dir[File.join(home, '**', '*')].select { |name| File.file?(name) }.map { |name| File.binread(name) }
  end
end
