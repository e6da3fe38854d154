# frozen_string_literal: true

require 'time'

# The nodes of an estate in the formats of PuppetDB's commands, for specs that ask the same questions of a PuppetDB and
# of an index of simpkv.
module QueryEstate
  PRODUCERS = %w[puppet1 puppet2].freeze

  # Facts with values of each type, at all depths, and with names that queries must quote.
  FACTS = {
    'web1' => { 'kernel' => 'Linux', 'uptime_seconds' => 5000, 'load' => 0.5, 'is_virtual' => true,
                'os' => { 'family' => 'Debian', 'name' => 'Debian',
                          'release' => { 'full' => '12.1', 'major' => '12' } },
                'processors' => { 'count' => 4, 'models' => ['Xeon E5', 'Xeon E5', 'Atom'] },
                'networking' => { 'ip' => '192.0.2.1',
                                  'interfaces' => { 'eth0' => { 'mac' => 'aa:00', 'mtu' => 1500 },
                                                    'lo' => { 'mtu' => 65_536 } } },
                'dotted.name' => 'dots', 'paths' => { 'a.b' => { 'c' => 1 }, 'x "y"' => 2, '0' => 'zero' },
                'list' => [1, 'two', 3.5, true, nil, { 'deep' => [10, 20] }], 'empty_map' => {}, 'empty_list' => [],
                'text_number' => '42', 'umlaut' => "Gr\u00fc\u00dfe", 'blank' => '',
                'trusted' => { 'authenticated' => 'remote', 'certname' => 'web1',
                               'extensions' => { 'pp_role' => 'web', '1.3.6.1.4.1.34380.1.2.1' => 'oid' } } },
    'web2' => { 'kernel' => 'Linux', 'uptime_seconds' => 90_000, 'load' => 2, 'is_virtual' => false,
                'os' => { 'family' => 'RedHat', 'name' => 'Rocky', 'release' => { 'full' => '9.3', 'major' => '9' } },
                'processors' => { 'count' => 16, 'models' => ['EPYC'] },
                'networking' => { 'ip' => '192.0.2.2', 'interfaces' => { 'eth0' => { 'mac' => 'aa:01', 'mtu' => 9000 },
                                                                         'eth1' => { 'mac' => 'aa:02' } } },
                'text_number' => 42, 'blank' => nil, 'Kernel' => 'linux',
                'trusted' => { 'authenticated' => 'remote', 'certname' => 'web2',
                               'extensions' => { 'pp_role' => 'web' } } },
    'db1' => { 'kernel' => 'windows', 'uptime_seconds' => 12.5, 'load' => '0.5', 'is_virtual' => 'true',
               'os' => { 'family' => 'windows', 'release' => { 'full' => '2019' } },
               'processors' => { 'count' => 4 }, 'big' => 9_007_199_254_740_993, 'huge' => (2**64) + 1,
               'negative' => -7,
               'trusted' => { 'authenticated' => 'local', 'certname' => 'db1', 'extensions' => {} } },
    'facts-only' => { 'kernel' => 'Linux', 'os' => 'text', 'processors' => [{ 'count' => 1 }, { 'count' => 2 }] },
    'old1' => { 'kernel' => 'Linux', 'only_old' => true, 'os' => { 'family' => 'Debian' } }
  }.freeze

  # Names, versions and providers.
  PACKAGES = { 'web1' => [%w[bash 5.2 apt], %w[rake 13.0 gem]], 'web2' => [%w[bash 5.2 apt]],
               'old1' => [%w[bash 5.1 apt]] }.freeze

  ENVIRONMENTS = { 'web1' => 'production', 'web2' => 'production', 'db1' => 'testing', 'facts-only' => 'lab',
                   'catalog-only' => 'lab', 'old1' => 'legacy' }.freeze

  # @return [Hash] a resource of a catalog
  def self.resource(type, title, parameters = {}, tags: [], exported: false, file: '/etc/site.pp', line: 1)
    { 'type' => type, 'title' => title, 'exported' => exported, 'file' => file, 'line' => line, 'aliases' => [],
      'tags' => [*type.downcase.split('::'), *tags].uniq, 'parameters' => parameters }
  end

  RESOURCES = {
    'web1' => [
      resource('Class', 'Nginx', { 'port' => 80, 'names' => %w[a b] }, tags: %w[nginx web]),
      resource('File', '/etc/nginx.conf', { 'ensure' => 'file', 'mode' => '0644', 'owner' => 'root' },
               tags: %w[nginx], line: 12),
      resource('File', '/var/www', { 'ensure' => 'directory', 'recurse' => true, 'limit' => 1.0 }, line: 20),
      resource('Package', 'nginx', { 'ensure' => 'installed', 'options' => { 'x' => [1, { 'y' => 'z' }] } },
               tags: %w[nginx], line: nil, file: nil),
      resource('Service', 'nginx', { 'ensure' => 'running', 'enable' => true, 'limit' => 1 }),
      resource('Nginx::Vhost', 'shop', { 'port' => '80' }, tags: %w[shop], exported: true),
      resource('Host', 'web1', { 'ip' => '192.0.2.1', 'host_aliases' => [] }, tags: %w[hosts], exported: true)
    ],
    'web2' => [
      resource('Class', 'Nginx', { 'port' => 8080, 'names' => %w[b a] }, tags: %w[nginx]),
      resource('File', '/etc/nginx.conf', { 'ensure' => 'file', 'mode' => '0600', 'owner' => 'Root' }, line: 12),
      resource('Host', 'web2', { 'ip' => '192.0.2.2', 'comment' => '' }, tags: %w[hosts], exported: true)
    ],
    'db1' => [resource('Class', 'Postgresql'), resource('User', 'postgres', { 'uid' => 100, 'groups' => ['ssl'] })],
    'catalog-only' => [resource('Class', 'Main')],
    'old1' => [resource('Class', 'Nginx'), resource('Host', 'old1', { 'ip' => '192.0.2.9' }, exported: true)]
  }.freeze

  # source, target, relationship
  EDGES = {
    'web1' => [[%w[Class Nginx], %w[Package nginx], 'contains'], [%w[Class Nginx], %w[Service nginx], 'contains'],
               [%w[Package nginx], ['File', '/etc/nginx.conf'], 'before'],
               [['File', '/etc/nginx.conf'], %w[Service nginx], 'notifies']],
    'web2' => [[%w[Class Nginx], ['File', '/etc/nginx.conf'], 'contains']],
    'old1' => [[%w[Class Nginx], %w[Host old1], 'contains']]
  }.freeze

  # @return [Hash] an event of a resource of a report
  def self.event(status, property, old, new, at, corrective: nil, message: nil, name: nil)
    { 'status' => status, 'property' => property, 'old_value' => old, 'new_value' => new, 'timestamp' => at,
      'message' => message || "#{property} changed", 'corrective_change' => corrective, 'name' => name }
  end

  # @return [Hash] a resource of a report
  def self.status(type, title, at, events, skipped: false, line: 7, path: nil)
    { 'timestamp' => at, 'resource_type' => type, 'resource_title' => title, 'skipped' => skipped, 'events' => events,
      'file' => line && '/etc/site.pp', 'line' => line, 'corrective_change' => nil,
      'containment_path' => path || ['Stage[main]', 'Nginx', "#{type}[#{title}]"] }
  end

  # @return [Hash] a report
  def self.report(certname, at, state, resources, more = {})
    start = Time.iso8601(at)
    { 'certname' => certname, 'environment' => ENVIRONMENTS.fetch(certname), 'puppet_version' => '7.23.0',
      'report_format' => 12, 'configuration_version' => start.to_i.to_s, 'start_time' => at,
      'end_time' => (start + 30).utc.iso8601(3), 'producer_timestamp' => (start + 31).utc.iso8601(3),
      'producer' => 'puppet1', 'resources' => resources, 'status' => state, 'noop' => false, 'noop_pending' => false,
      'corrective_change' => nil, 'type' => 'agent', 'job_id' => nil,
      'metrics' => [{ 'category' => 'time', 'name' => 'total', 'value' => 1.25 },
                    { 'category' => 'resources', 'name' => 'changed', 'value' => resources.length }],
      'logs' => [{ 'file' => nil, 'line' => nil, 'level' => 'notice', 'message' => 'Applied catalog',
                   'source' => 'Puppet', 'tags' => ['notice'], 'time' => at }],
      'transaction_uuid' => format('00000000-0000-4000-8000-%012d', start.to_i), 'catalog_uuid' => nil,
      'code_id' => nil, 'cached_catalog_status' => 'not_used' }.merge(more)
  end

  REPORTS = [
    report('web1', '2026-11-20T10:00:00.000Z', 'failed',
           [status('Service', 'nginx', '2026-11-20T10:00:10.000Z',
                   [event('failure', 'ensure', 'stopped', 'running', '2026-11-20T10:00:10.000Z',
                          message: 'could not start')]),
            status('File', '/var/www', '2026-11-20T10:00:11.000Z', [], skipped: true)]),
    report('web1', '2026-11-21T10:00:00.000Z', 'changed',
           [status('Service', 'nginx', '2026-11-21T10:00:10.000Z',
                   [event('success', 'ensure', 'stopped', 'running', '2026-11-21T10:00:10.000Z', corrective: false)]),
            status('File', '/etc/nginx.conf', '2026-11-21T10:00:09.000Z',
                   [event('success', 'mode', '0600', '0644', '2026-11-21T10:00:09.000Z', corrective: true),
                    event('success', 'owner', 'root', 'www', '2026-11-21T10:00:09.500Z')], line: nil)],
           'corrective_change' => true, 'producer' => 'puppet2'),
    report('web2', '2026-11-21T11:00:00.000Z', 'unchanged', [], 'metrics' => [], 'logs' => []),
    report('db1', '2026-11-21T12:00:00.000Z', 'unchanged',
           [status('User', 'postgres', '2026-11-21T12:00:01.000Z',
                   [event('noop', 'groups', ['a'], %w[a ssl], '2026-11-21T12:00:01.000Z')],
                   path: ['Stage[main]', '', 'Node[default]', 'User[postgres]'])],
           'noop' => true, 'noop_pending' => true, 'cached_catalog_status' => 'on_failure'),
    report('old1', '2026-11-01T12:00:00.000Z', 'changed',
           [status('Host', 'old1', '2026-11-01T12:00:01.000Z',
                   [event('success', 'ip', 'absent', '192.0.2.9', '2026-11-01T12:00:01.000Z')])])
  ].freeze

  # The node that is deactivated, and when.
  DEACTIVATED = { 'old1' => Time.iso8601('2026-11-24T08:00:00.000Z') }.freeze

  # The time of the commands with facts and catalogs.
  AT = '2026-11-21T13:00:00.000Z'

  # @return [Hash] the command `replace facts`, version 5
  def self.facts(certname)
    { 'certname' => certname, 'environment' => ENVIRONMENTS.fetch(certname), 'producer_timestamp' => AT,
      'producer' => producer(certname), 'values' => FACTS.fetch(certname),
      'package_inventory' => PACKAGES.fetch(certname, []) }
  end

  # @return [Hash] the command `replace catalog`, version 9
  def self.catalog(certname)
    { 'certname' => certname, 'environment' => ENVIRONMENTS.fetch(certname), 'producer_timestamp' => AT,
      'producer' => producer(certname), 'version' => '1763700000', 'code_id' => certname == 'web1' ? 'c0de' : nil,
      'job_id' => nil, 'transaction_uuid' => format('00000000-0000-4000-9000-%012d', certname.sum),
      'catalog_uuid' => format('00000000-0000-4000-a000-%012d', certname.sum),
      'resources' => RESOURCES.fetch(certname), 'edges' => edges(certname) }
  end

  # @return [Array<Hash>] the edges of a catalog
  def self.edges(certname)
    EDGES.fetch(certname, []).map do |source, target, relationship|
      { 'source' => %w[type title].zip(source).to_h, 'target' => %w[type title].zip(target).to_h,
        'relationship' => relationship }
    end
  end

  def self.producer(certname)
    certname == 'db1' ? 'puppet2' : 'puppet1'
  end
  private_class_method :producer

  # Stores the estate in a PuppetDB.
  #
  # @param client [PuppetDB::Client]
  def self.submit(client)
    FACTS.each_key { |certname| client.submit('replace facts', 5, certname, facts(certname)) }
    RESOURCES.each_key { |certname| client.submit('replace catalog', 9, certname, catalog(certname)) }
    REPORTS.each { |report| client.submit('store report', 8, report.fetch('certname'), report) }
    DEACTIVATED.each { |certname, at| client.deactivate(certname, at: at) }
  end
end
