# frozen_string_literal: true

require 'rubygems/package'
require_relative '../../../../spec/puppetserver/puppetserver_helper'
require 'simpkv/estate'

# The gem simpkv once had all that the gems above it have now.
RSpec.describe 'The upgrade of a puppetserver that has one gem', :long do
  def edit(file, old, new)
    File.write(file, File.read(file, encoding: 'UTF-8').sub(old, new))
  end

  # @return [String] the file of such a gem, in an older version
  def one_gem(folder)
    sources = Packages.unpack(folder)
    %w[estate access].each { |name| FileUtils.cp_r("#{Packages::ROOT}/gems/simpkv-#{name}/lib/.", "#{sources}/lib") }
    FileUtils.rm_r("#{sources}/lib/simpkv/gems")
    File.write("#{sources}/lib/simpkv/gems.txt", '')
    edit("#{sources}/lib/simpkv/version.rb", Simpkv::VERSION, '1.0.9')
    Dir["#{sources}/lib/puppet/**/*.rb"].each { |file| edit(file, "require 'simpkv/gems/estate'\n", '') }
    spec = Gem::Package.new(Packages.file(Packages::GEMS[:java])).spec
    spec.version = '1.0.9'
    Dir.chdir(sources) do
      spec.files = Dir['**/*'].select { |file| File.file?(file) }
      Gem::DefaultUserInteraction.use_ui(Gem::SilentUI.new) { File.expand_path(Gem::Package.build(spec, true)) }
    end
  end

  around do |example|
    Dir.mktmpdir('upgrade') do |folder|
      @folder = folder
      @server = PuppetServer.new(**settings)
      example.run
    ensure
      @server&.stop
    end
  end

  let(:settings) { { multithreaded: false, max_active_instances: 1, compile_mode: 'off' } }
  let(:backend) { { 'type' => 'file', 'id' => 'one', 'root_path' => @server.path('kept') } }
  let(:site) { { 'backends' => { 'default' => backend } } }
  let(:current) { [Packages::GEMS[:java], *Packages::OTHERS.first(2)].map { |name| Packages.file(name) } }

  def install(files, *command)
    quick = Packages::ENVIRONMENT.slice('CFLAGS', 'MAKEFLAGS')
    Packages.without_commands(/ruby/) { |path| @server.install_gems(files, quick.merge('PATH' => path), *command) }
  end

  it 'keeps its nodes, and then uses the gems of the new version' do
    install([one_gem(@folder)], 'puppetserver gem install simpkv && systemctl restart puppetserver')
    @server.environment('production', 'notify { inline_template("<%= Simpkv::VERSION %>"): }')
    @server.estate(site)
    @server.start
    Simpkv::Store.open('file', 'root_path' => @server.path('kept')).put('globals/first', '{"value":1}')
    Simpkv::Estate.new(site).make
    @server.agent('alpha')
    expect(@server.compile).to eq(['1.0.9'])
    install(current)
    @server.restart(**settings)
    @server.agent('beta')
    expect(@server.compile).to eq([Simpkv::VERSION])
    kept = Simpkv::Estate.new(site)
    expect(%w[alpha beta].map { |node| kept.facts.find(node).dig('values', 'clientcert') }).to eq(%w[alpha beta])
  end
end
