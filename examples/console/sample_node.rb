# frozen_string_literal: true

require 'digest'

# A node that looks real: its name, facts, resources and exports. A number chooses all of them, so that each run of the
# demo, of the specs and of the screenshots shows the same nodes.
class SampleNode
  # The roles of twenty nodes.
  ROLES = %w[web app web db app web cache app web mail web app db dns web build app cache monitor db].freeze
  # The first two bytes of the addresses of each site: examples/rules/rules.yaml knows them.
  SITES = { 'brn' => '10.1', 'zrh' => '10.2' }.freeze
  ENVIRONMENTS = [*['production'] * 8, 'staging', 'testing'].freeze
  SYSTEMS = [*[%w[Debian Debian 12.5 bookworm]] * 5, *[%w[Ubuntu Debian 22.04 jammy]] * 3,
             *[%w[Rocky RedHat 9.4 Blue_Onyx]] * 3, %w[AlmaLinux RedHat 8.10 Cerulean_Leopard]].freeze
  # The packages, services and files of each role.
  PARTS = {
    'web' => [%w[nginx openssl], %w[nginx], %w[/etc/nginx/nginx.conf /etc/nginx/conf.d/shop.conf /srv/www]],
    'app' => [%w[openjdk-17-jre-headless], %w[shop billing], %w[/etc/shop/application.yaml /etc/billing/billing.yaml]],
    'db' => [%w[postgresql-15], %w[postgresql], %w[/etc/postgresql/15/main/postgresql.conf /srv/backup]],
    'cache' => [%w[redis-server], %w[redis-server], %w[/etc/redis/redis.conf]],
    'mail' => [%w[postfix rspamd], %w[postfix rspamd], %w[/etc/postfix/main.cf /etc/aliases]],
    'dns' => [%w[unbound], %w[unbound], %w[/etc/unbound/unbound.conf]],
    'build' => [%w[git make gcc], %w[jenkins-agent], %w[/etc/default/jenkins-agent]],
    'monitor' => [%w[prometheus grafana], %w[prometheus grafana-server], %w[/etc/prometheus/prometheus.yml]]
  }.freeze
  MANIFEST = '/etc/puppetlabs/code/environments/production/modules/profile/manifests'
  private_constant :ROLES, :SITES, :ENVIRONMENTS, :SYSTEMS, :PARTS, :MANIFEST

  # @return [Integer]
  attr_reader :number

  # @param number [Integer] from 0
  def initialize(number)
    @number = number
  end

  # @return [String]
  def name
    format('%<role>s%<index>02d.%<site>s.example.org', role: role, index: index, site: site)
  end

  # @return [String]
  def role
    ROLES[number % ROLES.length]
  end

  # @return [String]
  def environment
    pick('environment', ENVIRONMENTS)
  end

  # @param what [Object] each one has a choice of its own
  # @param choices [Array]
  # @return [Object] one of them
  def pick(what, choices)
    choices[Digest::SHA256.digest("#{number} #{what}").unpack1('N') % choices.length]
  end

  # @return [Hash{String => Object}]
  def facts
    system.merge(network, hardware).merge(
      'role' => role, 'datacenter' => site, 'environment' => environment, 'timezone' => 'CET', 'fips_enabled' => false,
      'puppetversion' => '8.10.0', 'facterversion' => '4.10.0', 'ruby' => { 'version' => '3.2.5' },
      'path' => '/opt/puppetlabs/puppet/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      'identity' => { 'user' => 'root', 'uid' => 0, 'group' => 'root', 'gid' => 0, 'privileged' => true }
    )
  end

  # @return [Hash{String => Object}]
  def trusted
    { 'authenticated' => 'remote', 'certname' => name, 'hostname' => name.split('.').first,
      'domain' => "#{site}.example.org", 'extensions' => { 'pp_role' => role, 'pp_datacenter' => site } }
  end

  # @return [Array<Hash>] the resources of its catalog
  def resources
    packages, services, files = PARTS.fetch(role)
    packages = [*packages, 'openssh-server', 'chrony'].map { |title| resource('Package', title, 'ensure' => 'latest') }
    services = [*services, 'ssh', 'chrony'].map { |title| resource('Service', title, 'ensure' => 'running') }
    files = [*files, '/etc/motd', '/etc/ssh/sshd_config', '/etc/chrony/chrony.conf'].map { |title| file(title) }
    [*classes, *packages, *services, *files, *collected,
     resource('User', 'deploy', 'ensure' => 'present', 'uid' => 1200, 'shell' => '/bin/bash', 'groups' => %w[adm]),
     resource('Cron', 'logrotate', 'command' => '/usr/sbin/logrotate /etc/logrotate.conf', 'hour' => 3, 'minute' => 17)]
  end

  # @return [Hash{String => Array<Hash>}] exported resources by the lower-case name of their type
  def exports
    host = { 'title' => name, 'parameters' => { 'ip' => address, 'host_aliases' => [name.split('.').first] },
             'tags' => ['host', site] }
    return { 'host' => [host] } unless role == 'web'

    { 'host' => [host], 'monitor::check' => [{ 'title' => "https #{name}", 'tags' => %w[check web],
                                               'parameters' => check }] }
  end

  # @return [Hash{String => Object}] the parameters of the exported check
  def check
    { 'url' => "https://#{name}/health", 'interval' => 30 }
  end

  private

  # The checks that a monitor collects: those of the first nodes.
  def collected
    return [] unless role == 'monitor'

    exporters = Array.new(ROLES.length) { |number| SampleNode.new(number) }.select { |node| node.role == 'web' }
    exporters.map { |node| resource('Monitor::Check', "https #{node.name}", node.check) }
  end

  def site
    SITES.keys[number / 3 % SITES.length]
  end

  # The number of the node among those with its role.
  def index
    place = number % ROLES.length
    (number / ROLES.length * ROLES.count(role)) + ROLES.first(place + 1).count(role)
  end

  def address
    "#{SITES.fetch(site)}.#{number / 250}.#{(number % 250) + 1}"
  end

  def system
    name, family, release, codename = pick('system', SYSTEMS)
    { 'kernel' => 'Linux', 'kernelrelease' => family == 'Debian' ? '6.1.0-21-amd64' : '5.14.0-427.el9.x86_64',
      'os' => { 'name' => name, 'family' => family, 'architecture' => 'x86_64',
                'selinux' => { 'enabled' => family == 'RedHat' },
                'release' => { 'full' => release, 'major' => release.split('.').first },
                'distro' => { 'codename' => codename, 'id' => name } } }
  end

  def network
    mac = format('52:54:00:%<a>02x:%<b>02x:%<c>02x', a: number / 65_536, b: number / 256 % 256, c: number % 256)
    { 'networking' => { 'fqdn' => name, 'hostname' => name.split('.').first, 'domain' => "#{site}.example.org",
                        'ip' => address, 'mac' => mac, 'primary' => 'eth0',
                        'interfaces' => { 'eth0' => { 'ip' => address, 'mac' => mac, 'mtu' => 1500 },
                                          'lo' => { 'ip' => '127.0.0.1', 'mtu' => 65_536 } } } }
  end

  # Databases are on machines, one of which comes from a vendor that no rule knows.
  def hardware
    physical = role == 'db'
    vendor = number == 52 ? 'ACME' : pick('vendor', ['Dell Inc.', 'HPE', 'Supermicro'])
    gigabytes = pick('memory', physical ? [64, 128, 256] : [2, 4, 8, 16])
    { 'virtual' => physical ? 'physical' : 'kvm', 'is_virtual' => !physical,
      'dmi' => { 'manufacturer' => physical ? vendor : 'QEMU' },
      'processors' => { 'count' => pick('processors', physical ? [16, 32] : [2, 4, 8]), 'isa' => 'x86_64' },
      'memory' => { 'system' => { 'total' => "#{gigabytes}.00 GiB", 'total_bytes' => gigabytes * (1024**3) } },
      'mountpoints' => { '/' => { 'device' => '/dev/vda1', 'filesystem' => 'ext4', 'size' => '40.00 GiB' } } }
  end

  def classes
    ['Role', "Role::#{role.capitalize}", 'Profile::Base', 'Ssh', 'Chrony'].map { |title| resource('Class', title, {}) }
  end

  def file(path)
    resource('File', path, 'ensure' => path.start_with?('/srv/') ? 'directory' : 'file', 'owner' => 'root',
                           'mode' => '0644', 'require' => 'Package[openssh-server]')
  end

  def resource(type, title, parameters)
    { 'type' => type, 'title' => title, 'exported' => false, 'file' => "#{MANIFEST}/#{role}.pp",
      'line' => 12 + title.length, 'tags' => [type.downcase, 'profile', role], 'parameters' => parameters }
  end
end
