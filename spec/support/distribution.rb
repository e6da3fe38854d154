# frozen_string_literal: true

require 'tempfile'
require_relative 'packages'

# The packages of distributions, which the commands in packaging/ build and try.
module Distribution
  # Builds packages.
  #
  # @param kind [String] the command: `deb`, or `rpm`
  # @param options [String, nil] DEB_BUILD_OPTIONS
  # @return [String] the folder with the packages, which exists until the end of the specs
  def self.build(kind, options = nil)
    folder = Dir.mktmpdir('simpkv-distribution')
    RSpec.configuration.after(:suite) { FileUtils.remove_entry(folder) }
    # The flags of a distribution, in place of those of the specs.
    Packages.run("packaging/#{kind}", folder, folder: Packages::ROOT, environment: {
                   'SIMPKV_GEMS' => Bundler.settings[:path].to_s, 'DEB_BUILD_OPTIONS' => options,
                   'CFLAGS' => nil, 'MAKEFLAGS' => nil
                 })
    folder
  end

  # @return [String] the output of `rpmspec` for packaging/simpkv.spec, which builds nothing
  def self.rpmspec(option)
    Tempfile.create('simpkv.spec') do |file|
      File.write(file, Packages.run('packaging/fill', 'packaging/simpkv.spec', folder: Packages::ROOT))
      Packages.run('rpmspec', option, file.path)
    end
  end

  # Builds the Debian packages of another release of Debian, with its compilers and libraries.
  #
  # @param folder [String] of `build('deb')`
  # @return [String] the folder with the packages, within that folder
  def self.rebuild(folder, suite)
    Packages.run('packaging/rebuild', folder, folder: Packages::ROOT,
                                              environment: { 'SUITE' => suite, 'CFLAGS' => nil, 'MAKEFLAGS' => nil })
    File.join(folder, suite)
  end

  # Installs and uses the Debian packages in a fresh Debian.
  #
  # @param kind [String] what packaging/try is to use
  # @return [Array<String>] the lines that it prints, each with the time since there was nothing
  def self.try(folder, kind, suite: 'bookworm')
    Packages.run('packaging/try', folder, kind, folder: Packages::ROOT, environment: { 'SUITE' => suite })
            .lines(chomp: true).each { |line| puts line }
  end
end
