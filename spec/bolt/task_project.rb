# frozen_string_literal: true

require 'fileutils'
require 'open3'
require 'rbconfig'
require 'tmpdir'
require 'yaml'
require_relative '../support/bolt'

# A project with the module, a program `simpkv` and a store in files.
class TaskProject
  attr_reader :root

  def initialize
    @root = Dir.mktmpdir('simpkv-bolt')
    %w[bin modules plans].each { |folder| Dir.mkdir("#{root}/#{folder}") }
    File.symlink(Bolt::MODULE, "#{root}/modules/simpkv")
    write_command('simpkv', "GEM_PATH=#{Gem.path.join(':')} exec #{RbConfig.ruby} #{Bolt::MODULE}/exe/simpkv \"$@\"")
    write_store
    File.write("#{root}/bolt-project.yaml", { 'name' => 'demo' }.to_yaml)
  end

  def bolt(*arguments)
    Bolt.run(*arguments, folder: root, environment: environment)
  end

  # @return [String] all that Bolt has logged
  def log
    File.read("#{root}/bolt-debug.log")
  end

  # Writes a program that comes first in the PATH.
  def write_command(name, script)
    File.write("#{root}/bin/#{name}", "#!/bin/sh\n#{script}\n", perm: 0o755)
  end

  # @return [String] what the command prints
  def simpkv(*arguments, input: '')
    output, status = Open3.capture2(environment, "#{root}/bin/simpkv", *arguments, stdin_data: input)
    raise "simpkv #{arguments.first} failed" unless status.success?

    output
  end

  def close
    FileUtils.remove_entry(root)
  end

  private

  def environment
    { 'SIMPKV_CONFIG' => "#{root}/simpkv.yaml" }
  end

  def write_store
    backend = { 'type' => 'file', 'id' => 'x', 'root_path' => "#{root}/store" }
    File.write("#{root}/simpkv.yaml", { 'backends' => { 'default' => backend } }.to_yaml)
    Dir.mkdir("#{root}/store")
  end
end
