# frozen_string_literal: true

# The nodes of the benchmark of the estate, and what they export. PuppetDB and the stores of simpkv have the same data.
# Each node exports one Bench::Host. The first ones also export a Bench::Key and ten Bench::Service.
module EstateData
  QUICK = !ENV['BENCH_QUICK'].to_s.empty?
  NODES = QUICK ? 60 : 10_000
  FIRST = QUICK ? 20 : 1_000
  SERVICES = 10

  # The number of resources of each type, and of the nodes that export them.
  TYPES = { 'Bench::Key' => [FIRST, FIRST], 'Bench::Host' => [NODES, NODES],
            'Bench::Service' => [FIRST * SERVICES, FIRST] }.freeze

  # The number of resources that a node saves.
  SAVED = 100

  SEEN = '2026-11-23T00:00:00Z'

  class << self
    # @return [String]
    def name(number)
      format('node%05d.example.com', number)
    end

    # @return [Hash{String => Array<Hash>}] the exported resources of a node, by type, as the estate has them
    def exports(number)
      node = name(number)
      address = "10.1.#{number / 256}.#{number % 256}"
      found = { 'Bench::Host' => [resource('Bench::Host', node, node, 'address' => address)] }
      return found if number >= FIRST

      services = Array.new(SERVICES) do |check|
        resource('Bench::Service', "#{node} check#{check}", node, 'check' => check)
      end
      found.merge('Bench::Key' => [resource('Bench::Key', node, node, key(number, [node, address]))],
                  'Bench::Service' => services)
    end

    # Changes titles: Debian's PuppetDB fails to change the parameters of a resource ("Can't infer the SQL type").
    #
    # @param types [Integer] the number of their types
    # @param round [Integer] changes all resources
    # @return [Hash{String => Array<Hash>}] the exported resources of the node that saves
    def saved(types, round)
      Array.new(types) { |number| "Bench::Saved#{number}" }.to_h do |type|
        titles = Array.new(SAVED / types) { |number| "saved #{number} in round #{round}" }
        [type, titles.map { |title| resource(type, title, 'saver', 'round' => round) }]
      end
    end

    # @return [Array<Hash>] the same resources, as a catalog for PuppetDB has them
    def catalog_resources(exports)
      exports.flat_map do |type, list|
        list.map { |data| data.merge('type' => type, 'exported' => true, 'aliases' => []) }
      end
    end

    # @return [Hash{String => Array<Hash>}] the same resources, as {Simpkv::Estate::Exports#save} takes them
    def by_name(exports)
      exports.transform_keys(&:downcase)
    end

    private

    # @return [Hash] the parameters of a Bench::Key
    def key(number, names)
      { 'type' => 'ssh-ed25519', 'host_aliases' => names,
        'key' => Array.new(68) { |place| (97 + ((number + place) % 26)).chr }.join }
    end

    def resource(type, title, node, parameters)
      parameters = { 'ensure' => 'present', 'use' => 'generic', 'node' => node }.merge(parameters)
      { 'title' => title, 'parameters' => parameters,
        'tags' => ['class', 'default', 'node', type.downcase, *type.downcase.split('::')].sort, 'line' => 42,
        'file' => '/etc/puppetlabs/code/environments/production/modules/profile/manifests/monitored.pp' }
    end
  end
end
