# frozen_string_literal: true

require 'bundler'
require 'fileutils'
require 'open3'
require 'tmpdir'

# A Debian with nothing but git and the certificates of authorities, in a chroot that is deleted afterwards. Commands in
# it see what a newcomer sees: no package, gem or file of this machine. Only root can make a chroot.
class FreshMachine
  ROOT = File.expand_path('../..', __dir__)

  # The days after which the archive of a release is made anew: its lists of packages become old.
  DAYS = 7

  # Clones the checkout, with what is not committed yet.
  CLONE = <<~SHELL
    git clone --quiet --no-checkout . "$1"
    git ls-files --cached --others --exclude-standard --deduplicate -z |
      tar --create --null --files-from=- --ignore-failed-read | tar --extract --directory "$1"
  SHELL
  private_constant :DAYS, :CLONE

  # Makes the archive of a release, unless the cache has it.
  #
  # @param suite [String] a release of Debian
  # @return [String] its path, beside the gems of all checkouts
  def self.archive(suite)
    file = File.join(File.dirname(Bundler.settings[:path].to_s), 'fresh', "#{suite}.tar")
    return file if File.exist?(file) && File.mtime(file) > Time.now - (DAYS * 24 * 3600)

    FileUtils.mkdir_p(File.dirname(file))
    Dir.mktmpdir do |empty|
      command = [File.join(ROOT, 'packaging/chroot'), empty, 'ca-certificates git', 'true']
      run({ 'SUITE' => suite, 'VARIANT' => 'minbase', 'SAVE' => file }, *command)
    end
    file
  end

  # @return [String] the output of a command
  # @raise [RuntimeError] it fails; the message has the output
  def self.run(variables, *command, **options)
    output, status = Open3.capture2e(variables, *command, **options)
    status.success? ? output : raise("#{command.last}\n#{output.scrub}")
  end

  # @param archive [String] of {archive}, or one that {#run} has saved
  def initialize(archive)
    @archive = archive
  end

  # Runs a script of the shell on a machine of its own, in a fresh copy of this checkout.
  #
  # @param script [String] each of its commands must succeed
  # @param packages [String, nil] a folder whose files are in the folder pkg of the copy
  # @param save [String, nil] the file that gets the machine as an archive
  # @yieldparam copy [String] the copy, after the script
  # @return [String] the output
  # @raise [RuntimeError] a command fails; the message has the output
  def run(script, packages: nil, save: nil)
    Dir.mktmpdir('simpkv-fresh') do |copy|
      FreshMachine.run({}, 'sh', '-euc', CLONE, 'sh', copy, chdir: ROOT)
      FileUtils.cp_r(packages, File.join(copy, 'pkg')) if packages
      command = [File.join(ROOT, 'packaging/chroot'), copy, '', 'sh', '-euc', "cd /work\n#{script}"]
      output = FreshMachine.run({ 'BASE' => @archive, 'SAVE' => save }, *command)
      yield copy if block_given?
      output
    end
  end
end
