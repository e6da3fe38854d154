# frozen_string_literal: true

require_relative '../spec_helper'
require_relative '../support/ldap_store'
require_relative '../support/packages'
require_relative '../support/eventually'
require_relative '../support/puppet_server'

# One puppetserver for all specs, because it starts slowly. A group with other settings restarts it.
module SharedPuppetServer
  def self.with(settings)
    if !@server
      @server = PuppetServer.new(**settings)
      install
      @server.start
    elsif settings != @settings
      @server.restart(**settings)
    end
    @settings = settings
    @server
  end

  # Puppetserver's JRuby needs no other Ruby. The C library is compiled without optimization, which takes less time.
  # `bin/test long` installs the gems from their files, other stages from a registry.
  def self.install
    quick = Packages::ENVIRONMENT.slice('CFLAGS', 'MAKEFLAGS')
    files = [Packages::GEMS[:java], *Packages::OTHERS.grep(/-(?:estate|access)-/)].map { |name| Packages.file(name) }
    Packages.without_commands(/ruby/) do |path|
      variables = quick.merge('PATH' => path)
      ENV['LONG'] ? @server.install_files(files, variables) : @server.install_gems(files, variables)
    end
  end
  private_class_method :install

  def self.stop
    @server&.stop
    @server = nil
  end

  def self.tail
    @server&.tail
  end
end

# With two JRubies of one thread each; or with the tag `multithreaded`, with one JRuby for many threads. They only
# interpret Ruby, which takes less processor time for a few catalogs; `bin/test long` has them compile it to bytecode,
# as a production server does.
RSpec.shared_context 'with puppetserver' do
  include Eventually

  attr_reader :puppetserver

  before(:context) do
    multithreaded = self.class.metadata.fetch(:multithreaded, false)
    @puppetserver = SharedPuppetServer.with(multithreaded: multithreaded, max_active_instances: multithreaded ? 8 : 2,
                                            compile_mode: ENV['LONG'] ? 'jit' : 'off')
  end

  # Creates an environment with the module; see PuppetServer#environment.
  #
  # @return [String] the folder of the module
  def environment(name, manifest, **more)
    folder = puppetserver.environment(name, manifest, **more)
    place = File.join(folder, 'modules', 'simpkv')
    unless File.exist?(place)
      FileUtils.mkdir_p(place)
      Packages.run('tar', '-xf', Packages.file(Packages::MODULE), '-C', place, '--strip-components=1')
    end
    place
  end

  # @return [Hash] options with one backend, in files
  def files(name = 'default')
    { 'backends' => { name => { 'type' => 'file', 'id' => 'files', 'root_path' => puppetserver.path('files') } } }
  end
end

RSpec.configure do |config|
  # Groups with the same settings run one after the other. Those with the tag `estate` come last, because they leave
  # storeconfigs on.
  config.register_ordering(:global) do |items|
    shuffled = items.shuffle(random: Random.new(config.seed))
    shuffled.group_by { |item| item.metadata.values_at(:multithreaded, :estate).map { |tag| tag ? 1 : 0 } }
            .sort_by { |(multithreaded, estate), _| [-multithreaded, estate] }.flat_map(&:last)
  end
  config.after(:suite) { SharedPuppetServer.stop }
  config.after { |example| warn SharedPuppetServer.tail if example.exception }
end
