# frozen_string_literal: true

# The nodes of the benchmark of queries: 125 facts and a catalog of 50 resources each. PuppetDB and the store of simpkv
# have the same data.
module QueryData
  QUICK = !ENV['BENCH_QUICK'].to_s.empty?
  # The numbers of nodes at which queries are compared.
  SIZES = ENV.fetch('BENCH_SIZES', QUICK ? '20 40' : '1000 10000').split.map { |size| Integer(size, 10) }.freeze
  FAMILIES = { 'Debian' => %w[Debian Ubuntu], 'RedHat' => %w[RedHat AlmaLinux Rocky] }.freeze
  ENVIRONMENTS = %w[production staging].freeze
  PLAIN_FACTS = 117
  FILES = 42
  PACKAGES = 5
  MANIFEST = '/etc/puppetlabs/code/environments/production/modules/profile/manifests/base.pp'
  TIME = '2026-11-23T00:00:00Z'

  class << self
    # @return [String]
    def name(number)
      format('node%05d.example.com', number)
    end

    # @return [String] the environment of a node
    def environment(number)
      ENVIRONMENTS[number % 10 == 9 ? 1 : 0]
    end

    # @param run [Integer] changes the facts
    # @return [Hash{String => Object}] 125 facts of a node, 8 of them with a meaning
    def facts(number, run = 0)
      plain = Array.new(PLAIN_FACTS) { |index| [format('site_%03d', index), "value #{(number + index) % 50}"] }.to_h
      plain.merge('os' => system(number), 'networking' => network(number), 'kernel' => 'Linux',
                  'processors' => { 'count' => 2**(number % 6), 'models' => ['Model A', 'Model B'] },
                  'timezone' => %w[UTC CET EST][number % 3], 'is_virtual' => number.even?,
                  'load' => number % 100 / 10.0, 'run' => run)
    end

    # @return [Array<Hash>] the resources of the catalog of a node
    def resources(number)
      files = Array.new(FILES) { |index| resource('File', "/etc/site/#{index}", 'mode' => '0644', 'owner' => 'root') }
      packages = Array.new(PACKAGES) do |index|
        resource('Package', "package#{index}", 'ensure' => ((number + index) % 20).zero? ? 'latest' : 'installed')
      end
      host = resource('Host', name(number), 'ip' => network(number)['ip']).merge('exported' => true)
      role = (number % 5).zero? ? 'Role::Web' : 'Role::Base'
      [*files, *packages, host, resource('Class', 'Settings', {}), resource('Class', role, {})]
    end

    private

    def system(number)
      family, names = FAMILIES.to_a[number % 2]
      major = (10 + (number % 4)).to_s
      { 'family' => family, 'name' => names[number / 2 % names.length],
        'release' => { 'major' => major, 'full' => "#{major}.#{number % 9}" } }
    end

    def network(number)
      address = "10.#{number / 65_536}.#{number / 256 % 256}.#{number % 256}"
      { 'fqdn' => name(number), 'ip' => address, 'interfaces' => { 'eth0' => { 'ip' => address, 'mtu' => 1500 } } }
    end

    def resource(type, title, parameters)
      { 'type' => type, 'title' => title, 'exported' => false, 'file' => MANIFEST, 'line' => 42,
        'tags' => [type.downcase, 'profile', *('web' if title == 'Role::Web')], 'parameters' => parameters }
    end
  end

  # The queries, in PQL.
  QUERIES = {
    'names of nodes' => 'nodes[certname] { }',
    'number of nodes' => 'nodes[count()] { }',
    'a page of nodes' => 'nodes[certname] { certname ~ "^node00[0-4]" order by certname limit 100 offset 10 }',
    'nodes of an environment' => 'nodes[certname] { facts_environment = "staging" }',
    'nodes by a structured fact' => 'inventory[certname] { facts.os.family = "Debian" }',
    'nodes by a number in a fact' => 'inventory[certname] { facts.processors.count >= 16 }',
    'nodes by two facts' => 'inventory[certname] { facts.os.name = "Ubuntu" and facts.timezone = "CET" }',
    'a part of a fact of some nodes' => 'inventory[certname, facts.networking.ip] { facts.os.release.major = "12" }',
    'a fact of all nodes' => 'facts[certname, value] { name = "os" }',
    'all facts of a node' => "facts[name, value] { certname = '#{name(7)}' }",
    'the counts of the values of a fact' => 'facts[value, count()] { name = "timezone" group by value }',
    'nodes by the value of a fact' => 'facts[certname] { name = "site_010" and value = "value 17" }',
    'a member of a fact of all nodes' => 'fact_contents[certname, value] { path = ["os", "release", "major"] }',
    'exported resources' => 'resources[certname, title, parameters] { exported = true and type = "Host" }',
    'a resource of all nodes' => 'resources[certname, file, line] { type = "File" and title = "/etc/site/7" }',
    'all resources of a node' => "resources[type, title, parameters] { certname = '#{name(7)}' }",
    'the counts of types' => 'resources[type, count()] { group by type }',
    'resources by a parameter' => 'resources[certname, title] { type = "Package" and parameters.ensure = "latest" }',
    'resources by a tag' => 'resources[certname, title] { tag = "web" }',
    'nodes with a class and a fact' =>
      'nodes[certname] { resources { type = "Class" and title = "Role::Web" } and ' \
      'facts { name = "timezone" and value = "UTC" } }'
  }.freeze
end
