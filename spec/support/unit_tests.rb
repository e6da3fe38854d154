# frozen_string_literal: true

require 'open3'
require 'tmpdir'
require_relative 'another_ruby'

# Runs unit tests as the author of a module does, in processes of their own.
module UnitTests
  ROOT = File.expand_path('../..', __dir__)

  # @param arguments [Array<String>] of rspec
  # @return [Array(String, Integer)] what it printed, and its exit code. Its temporary files are below `tmp`
  def rspec(*arguments, variables: {})
    variables = { 'TMPDIR' => File.join(folder, 'tmp'), 'SPEC_OPTS' => nil, 'MODULES' => modules }.merge(variables)
    output, status = Open3.capture2e(variables, *AnotherRuby.command('-S', 'rspec', *arguments), chdir: folder)
    [output, status.exitstatus]
  end

  # Makes a modulepath with simpkv and the module app.
  def write_modules(manifest)
    FileUtils.mkdir_p([File.join(modules, 'app', 'manifests'), File.join(folder, 'tmp')])
    File.symlink(ROOT, File.join(modules, 'simpkv'))
    File.write(File.join(modules, 'app/manifests/init.pp'), manifest)
  end

  # @return [Array<String>] what is left in the folder of temporary files
  def left
    Dir.children(File.join(folder, 'tmp'))
  end
end
