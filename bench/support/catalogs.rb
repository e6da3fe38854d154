# frozen_string_literal: true

require_relative '../../spec/support/packages'
require_relative '../../spec/support/puppet_server'

# Puppet environments with the packaged module, whose manifests get keys of a contest.
class Catalogs
  # Yields the catalogs, and removes them afterwards.
  def self.of(contest, folder)
    catalogs = new(contest, folder)
    yield catalogs
  ensure
    catalogs&.server&.stop
    FileUtils.rm_rf(File.dirname(Packages.file(Packages::MODULE)))
  end

  # @return [PuppetServer] not started
  attr_reader :server

  def initialize(contest, folder)
    @contest = contest
    @folder = folder
    @server = PuppetServer.new(java: PuppetServer.site_java, max_active_instances: 1)
  end

  # @param name [String] of the environment, whose keys are in the folder
  # @param gets [Integer] the number of gets
  # @return [String] the folder of the environment
  def environment(name, gets)
    backend = @contest.server.options('type' => 'ldap', 'id' => Contest::ID)
    place = @server.environment(name, manifest(gets), options: { 'backends' => { 'default' => backend } },
                                                      timeout: 'unlimited')
    modules = File.join(place, 'modules', 'simpkv')
    FileUtils.mkdir_p(modules)
    Packages.run('tar', '-xf', Packages.file(Packages::MODULE), '-C', modules, '--strip-components=1')
    place
  end

  # @return [String] a manifest that notifies of the number of different values
  def manifest(gets)
    return "notify { '0 values': }\n" if gets.zero?

    key = "#{File.basename(@folder.path)}/k${$number % #{@folder.keys}}"
    <<~PUPPET
      $found = Integer[1, #{gets}].map |$number| { simpkv::get("#{key}")['value'] }
      notify { "${$found.unique.length} values": }
    PUPPET
  end
end
