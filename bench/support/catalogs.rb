# frozen_string_literal: true

require_relative '../../spec/support/packages'
require_relative '../../spec/support/puppet_server'

# Puppet environments with the packaged module, whose manifests get keys of a contest: each gets the 100 keys of the
# folder `small` of its environment 10 times.
class Catalogs
  KEY = '"small/k${$number % 100}"'

  # What each of 1,000 iterations does, by the name of the catalog.
  BODIES = { 'iterations' => KEY, 'upcase' => "upcase(#{KEY})", 'gets' => "simpkv::get(#{KEY})['value']" }.freeze

  # Yields the catalogs, and removes them afterwards.
  #
  # @param jrubies [Integer] of the server
  def self.of(contest, jrubies)
    catalogs = new(contest, jrubies)
    yield catalogs
  ensure
    catalogs&.server&.stop
    FileUtils.rm_rf(File.dirname(Packages.file(Packages::MODULE)))
  end

  # @return [String] the name of the environment of a catalog
  def self.name_of(place, name)
    "#{place}_#{name.gsub(/\W/, '_')}"
  end

  # @return [PuppetServer] with the gems, not started
  attr_reader :server

  def initialize(contest, jrubies)
    @contest = contest
    @server = PuppetServer.new(java: PuppetServer.site_java, max_active_instances: jrubies)
    gems = [Packages::GEMS[:java], *Packages::OTHERS.grep(/estate|access/)]
    @server.install_gems(gems.map { |name| Packages.file(name) })
  end

  # Makes an environment for each catalog.
  #
  # @param place [String] the environment whose keys they get
  # @param uri [String] of the directory
  # @param names [Array<String>] of {BODIES}, or `nothing`; any other has ten batches
  def environments(place, uri, names)
    backend = @contest.server.options('type' => 'ldap', 'id' => Contest::ID, 'ldap_uri' => uri)
    backend['tls_cacert'] = @contest.server.certificates.cacert if uri.start_with?('ldaps')
    names.each do |name|
      environment = Catalogs.name_of(place, name)
      @contest.folder('small', environment: environment) unless %w[nothing iterations upcase].include?(name)
      install(@server.environment(environment, manifest(name), options: { 'backends' => { 'default' => backend } },
                                                               timeout: 'unlimited'))
    end
  end

  private

  def install(place)
    modules = File.join(place, 'modules', 'simpkv')
    FileUtils.mkdir_p(modules)
    Packages.run('tar', '-xf', Packages.file(Packages::MODULE), '-C', modules, '--strip-components=1')
  end

  # @return [String] a manifest that notifies of the number of different values
  def manifest(name)
    return "notify { '0 values': }\n" if name == 'nothing'

    <<~PUPPET
      #{BODIES.key?(name) ? iterations(BODIES[name]) : batches}
      notify { "${$found.unique.length} values": }
    PUPPET
  end

  def iterations(body)
    "$found = Integer[1, 1000].map |$number| { #{body} }"
  end

  def batches
    <<~PUPPET.chomp
      $keys = Integer[0, 99].map |$number| { #{KEY} }
      $entries = Integer[1, 10].map |$batch| { simpkv::get_many($keys)['keys'].values }
      $found = $entries.flatten
    PUPPET
  end
end
