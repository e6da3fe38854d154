# frozen_string_literal: true

require 'bundler'
require 'fileutils'

# Runs the specs of each gem where no gem above it is: those of simpkv in a checkout without the folder gems, and those
# of the others with their own code and with what the gems below them have installed. It must run in a copy of the
# checkout with a core that is built, and changes the copy: see the stage `alone`. Arguments choose the gems.
class Alone
  # The folders of specs that run: those that start no more than a directory server.
  FOLDERS = %w[unit functions types classes command estate query].freeze

  # Where the copy keeps the gems while the folder gems has some of them.
  ALL = 'tmp/gems'

  # The key/value store, in the root.
  BASE = 'simpkv'

  # Gems whose commands the specs of another gem use, and those above it.
  TOOLS = { 'simpkv-estate' => %w[simpkv-operations] }.freeze
  private_constant :FOLDERS, :ALL, :BASE, :TOOLS

  def initialize
    @specifications = Dir['*.gemspec', 'gems/*/*.gemspec'].map { |file| Gem::Specification.load(file) }
                                                          .to_h { |each| [each.name, each] }
    @home = File.expand_path('tmp/home')
  end

  # @param chosen [Array<String>] names of gems; none: all
  # @return [Boolean] whether all passed
  def run(chosen)
    FileUtils.mkdir_p(@home)
    @specifications.each_key { |name| install(name) }
    FileUtils.mv('gems', ALL)
    FileUtils.rm_r(Dir['lib/simpkv{,.rb}'])
    FileUtils.cp_r("#{library(BASE)}/.", 'lib') # Beside the code of the module.
    (chosen.any? ? chosen : @specifications.keys).map { |name| passed?(name) }.all?
  end

  private

  # Installs a gem without the gems that it needs: the bundle has them.
  def install(name)
    file = File.join(@home, "#{name}.gem")
    outside('gem', 'build', '--silent', "#{name}.gemspec", '--output', file, chdir: folder(name))
    outside('gem', 'install', '--silent', '--local', '--ignore-dependencies', '--no-document', '--install-dir', @home,
            file)
  end

  def outside(*command, **options)
    Bundler.with_unbundled_env { system(*command, exception: true, **options) }
  end

  def passed?(name)
    below = below(name)
    put_gems(name, below)
    FOLDERS.map { |each| File.join(folder(name), 'spec', each) }.select { |each| Dir.exist?(each) }.map do |specs|
      puts "== #{specs}, on #{below.empty? ? 'nothing' : below.join(', ')}"
      system('bundle', 'exec', 'rspec', '--tag', '~ds389', '--tag', '~tools', specs)
    end.all?
  end

  # Makes the folder gems anew. Those below have the code that they have installed, and their specs, whose helpers the
  # specs of the gem use.
  def put_gems(name, below)
    FileUtils.rm_rf('gems')
    return if name == BASE

    FileUtils.mkdir('gems')
    [name, *below - [BASE]].each { |each| FileUtils.cp_r(File.join(ALL, each), 'gems') }
    (below - [BASE]).each do |each|
      FileUtils.rm_r(File.join(folder(each), 'lib'))
      FileUtils.cp_r(library(each), folder(each))
    end
  end

  # @return [String] the folder of code of an installed gem
  def library(name)
    File.join(@home, 'gems', @specifications.fetch(name).full_name, 'lib')
  end

  # @return [Array<String>] the gems of this repository that a gem needs, the lowest first
  def below(name)
    direct = @specifications.fetch(name).dependencies.map(&:name) & @specifications.keys
    [*direct, *TOOLS[name]].flat_map { |each| [*below(each), each] }.uniq
  end

  def folder(name)
    name == BASE ? '.' : File.join('gems', name)
  end
end

exit(Alone.new.run(ARGV)) if $PROGRAM_NAME == __FILE__
