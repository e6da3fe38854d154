# frozen_string_literal: true

require 'fileutils'
require 'rubygems/package'
require 'simpkv/gems'
require_relative '../support/another_ruby'
require_relative '../support/scratch'

# JRuby runs what depends on RubyGems and `require`. Each process takes it seconds.
RSpec.describe Simpkv::Gems do
  around do |example|
    Scratch.make('gems') do |folder|
      @folder = folder
      example.run
    end
  end

  # Another process, which believes that the gem simpkv-site has the command `site`.
  #
  # @return [String] what it prints
  def run(script, environment = {})
    setup = "require 'simpkv/gems'; Simpkv::Gems.instance_variable_set(:@list, [%w[simpkv-site cli/commands site]])"
    environment = { 'RUBYOPT' => nil, 'BUNDLE_GEMFILE' => nil }.merge(environment)
    command = AnotherRuby.command('-e', "#{setup}\n#{script}")
    IO.popen([environment, *command, { err: %i[child out] }], &:read)
  end

  # Writes the files of the gem.
  #
  # @return [String] the folder of its code
  def write(version, place = "#{@folder}/#{version}/lib")
    FileUtils.mkdir_p(["#{place}/simpkv/gems", "#{place}/simpkv/cli/commands"])
    File.write("#{place}/simpkv/gems/site.rb", "require 'simpkv/gems'\nSimpkv::Gems.add('simpkv-site', '#{version}', " \
                                               "File.expand_path('../..', __dir__))\n")
    File.write("#{place}/simpkv/cli/commands/site.rb",
               "module Simpkv; module Cli; module Commands; module Site; FROM = '#{version}'; end; end; end; end\n")
    place
  end

  # Installs the gem for another process.
  #
  # @return [Hash{String => String}] the variables of that process
  def install(version)
    write(version)
    home = "#{@folder}/home"
    Dir.chdir("#{@folder}/#{version}") do
      specification = Gem::Specification.new('simpkv-site', version) do |spec|
        spec.summary = spec.description = spec.author = 'A gem of a spec'
        spec.files = Dir['lib/**/*.rb']
      end
      file = Gem::DefaultUserInteraction.use_ui(Gem::SilentUI.new) { Gem::Package.build(specification, true) }
      Gem::Installer.at(file, install_dir: home, force: true, document: []).install
    end
    { 'GEM_PATH' => [home, *Gem.path].join(':') }
  end

  find = "puts Simpkv::Gems.find('cli/commands', 'site')::FROM"

  it 'find what a gem has on the load path' do
    names = "p Simpkv::Gems.names('cli/commands') & %w[get site]"
    expect(run("$LOAD_PATH << '#{write(Simpkv::VERSION)}'; #{find}; #{names}"))
      .to eq("#{Simpkv::VERSION}\n[\"get\", \"site\"]\n")
  end

  it 'find an installed gem in the version of simpkv, also beside a newer one' do
    install(Simpkv::VERSION)
    expect(run(find, install('99.0.0'))).to eq("#{Simpkv::VERSION}\n")
  end

  it 'refuse a gem of another version' do
    output = run(find, install('99.0.0'))
    expect(output).to include("the gem simpkv-site has the version 99.0.0, and simpkv has #{Simpkv::VERSION}: " \
                              "install simpkv-site #{Simpkv::VERSION}")
  end

  it 'name the gem that is missing, and the command that installs it' do
    demand = "p Simpkv::Gems.find('cli/commands', 'site'); Simpkv::Gems.demand('cli/commands', 'site', 'The page')"
    expect(run(demand)).to start_with("nil\n").and include(
      "The page needs the gem simpkv-site, which is not installed: #{described_class.command} install simpkv-site -v " \
      "#{Simpkv::VERSION} ('puppetserver gem install' for puppetserver)"
    )
  end

  # The message named only the gem, which was there.
  it 'name the file that cannot be loaded, of another gem, and the command that installs it' do
    place = write(Simpkv::VERSION)
    File.write("#{place}/simpkv/cli/commands/site.rb", "require 'absent/part'")
    output = run("$LOAD_PATH << '#{place}'; Simpkv::Gems.demand('cli/commands', 'site', 'The page')")
    remedy = 'Install the gem simpkv-site with the gems that it needs: ' \
             "#{described_class.command} install simpkv-site -v #{Simpkv::VERSION}"
    expect(output).to match(%r{The page cannot be used: [\w ]+ -- absent/part\. #{Regexp.escape(remedy)}})
  end

  it 'name the command gem of this Ruby, as the module does where the gem is missing', :once do
    module_of = TOPLEVEL_BINDING.eval(File.read(File.expand_path('../../lib/puppet_x/simpkv/gem_loading.rb', __dir__)))
    expect(described_class.command).to eq(Object.new.extend(module_of).send(:gem_command))
    expect(described_class.command).to eq(File.join(RbConfig::CONFIG['bindir'], 'gem'))
  end

  it 'know what there is, installed or not', :once do
    commands = %w[known names].map { |method| "Simpkv::Gems.#{method}('cli/commands') & %w[get site]" }
    expect(run("p #{commands.join(', ')}")).to eq(%(["get", "site"]\n["get"]\n))
  end

  it 'have commands that name their gem', :once do
    output = run("require 'simpkv/cli'; exit Simpkv::Cli.run(%w[site page])")
    expect(output).to start_with('simpkv: simpkv site needs the gem simpkv-site, which is not installed')
  end
end
