# frozen_string_literal: true

require 'fileutils'
require 'securerandom'
require 'tmpdir'

require_relative '../../../../spec/support/packages'
require_relative '../../../../spec/support/puppet_server'

# Nodes that export a key, a host and two resources of a defined type, and collect those of all nodes. They run Debian's
# Puppet. A subclass for each way to run a node defines `apply`, and `confdir` with simpkv.yaml.
class EstateNodes
  # Nodes have two facts: `place`, a folder for all that the run makes, and `exports`.
  MANIFEST = <<~PUPPET
    define mark(String $from, Sensitive[String] $token) {
      file { "${facts['place']}/${title}": content => Sensitive("from ${from}: ${token.unwrap}") }
    }

    $me = $trusted['certname']
    if $facts['exports'] == 'yes' {
      @@sshkey { $me:
        type         => 'ssh-ed25519',
        key          => base64('encode', $me, 'strict'),
        host_aliases => ["alias-of-${me}"],
        target       => "${facts['place']}/known_hosts",
      }
      @@host { $me: ip => '192.0.2.1', comment => "of ${me}", target => "${facts['place']}/hosts" }
      ['web', 'db'].each |$tag| {
        @@mark { "${tag}-${me}": from => $me, token => Sensitive("SECRET-${me}"), tag => $tag }
      }
    }
    Sshkey <<| |>> { target => "${facts['place']}/known_hosts" }
    Host <<| comment != 'of nobody' |>> { target => "${facts['place']}/hosts" }
    Mark <<| tag == 'web' |>>
  PUPPET

  # The beginning of the value of each Sensitive parameter.
  SECRET = 'pl4nted-s3nsitive'

  def self.manifest
    # base64() is a function of stdlib.
    MANIFEST.sub("base64('encode', $me, 'strict')", "String(Binary($me, '%s'), '%B')").gsub('SECRET', SECRET)
  end

  # @return [Array<String>] what the runs have printed
  attr_reader :outputs

  def initialize
    @folder = Dir.mktmpdir('estate')
    @outputs = []
  end

  def remove
    FileUtils.rm_rf(@folder)
  end

  # Runs a node, in a new place.
  #
  # @param node [String]
  # @param exports [Boolean] whether it exports
  # @return [Hash{Symbol => Array<String>}] the names of what it collected: `keys`, `hosts`, `marks`
  def run(node, exports: true)
    place = File.join(@folder, SecureRandom.hex(4))
    FileUtils.mkdir(place)
    facts = { 'FACTER_place' => place, 'FACTER_exports' => exports ? 'yes' : 'no' }
    @outputs << apply(node, facts)
    { keys: read(place, 'known_hosts', /^(\S+?),alias-of-\S+ ssh-ed25519 \S+$/),
      hosts: read(place, 'hosts', /^192\.0\.2\.1\s+(\S+)\s+# of \1$/),
      marks: Dir.children(place).grep(/-/).map { |name| mark(place, name) }.sort }
  end

  # Runs `puppet node deactivate`.
  def deactivate(node)
    @outputs << puppet('node', 'deactivate', node, '--confdir', confdir, '--vardir', File.join(@folder, 'var'))
  end

  private

  # @return [String] the output of Debian's `puppet`, with the gem
  def puppet(*arguments, variables: {})
    environment = { 'GEM_HOME' => Packages.linked_for_mri, **variables }
    output, status = PuppetCommand::Debian.run(*arguments, '--color=false', variables: environment)
    raise "puppet #{arguments.first}: #{output.lines.last(20).join}" unless [0, 2].include?(status.exitstatus)

    output
  end

  def read(place, name, line)
    file = File.join(place, name)
    File.exist?(file) ? File.read(file).scan(line).flatten.sort : []
  end

  # @return [String] its name, and its content if it is wrong
  def mark(place, name)
    node = name[/-(.*)/, 1]
    content = File.read(File.join(place, name))
    content == "from #{node}: #{SECRET}-#{node}" ? name : "#{name}: #{content}"
  end
end

# Nodes that get their catalogs from a puppetserver.
class ServedNodes < EstateNodes
  # @param server [PuppetServer]
  def initialize(server)
    super()
    @server = server
    @server.environment('estate', EstateNodes.manifest)
  end

  private

  def apply(node, facts)
    @server.agent(node, environment: 'estate', variables: facts, arguments: ['--debug'])
  end

  def confdir
    @server.path('conf')
  end
end

# Nodes that compile their catalogs themselves, with the store of a site.
class ApplyingNodes < EstateNodes
  # @param site [Hash] the content of simpkv.yaml
  def initialize(site)
    super()
    FileUtils.mkdir(confdir)
    File.write(File.join(confdir, 'simpkv.yaml'), JSON.generate(site))
    File.write(File.join(confdir, 'puppet.conf'), <<~INI)
      [main]
      storeconfigs = true
      storeconfigs_backend = simpkv
      reports = simpkv
      report = true
    INI
    File.write(File.join(confdir, 'site.pp'), EstateNodes.manifest)
  end

  private

  def apply(node, facts)
    folders = %w[vardir codedir publicdir rundir logdir ssldir].flat_map do |name|
      ["--#{name}", File.join(@folder, node, name)]
    end
    puppet('apply', '--debug', '--detailed-exitcodes', '--certname', node, '--confdir', confdir, *folders,
           File.join(confdir, 'site.pp'), variables: facts)
  end

  def confdir
    File.join(@folder, 'conf')
  end
end
