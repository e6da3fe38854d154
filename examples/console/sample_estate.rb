# frozen_string_literal: true

require 'time'
require 'yaml'
require 'simpkv/inspection'
require_relative 'sample_compilers'
require_relative 'sample_runs'

# Fills the store of an estate with nodes, their runs, compilers, rules and keys, for bin/demo console, the specs of the
# console and the screenshots.
class SampleEstate
  # The options `estate` of the site.
  OPTIONS = { 'catalogs' => true, 'node_ttl' => '8d', 'reports' => 14 }.freeze
  RULES = File.expand_path('../rules/rules.yaml', __dir__)
  # Nodes that are declared, and have never run.
  DECLARED = { 'web90.zrh.example.org' => 'web', 'db90.brn.example.org' => 'db' }.freeze
  # How many nodes are stored at once.
  BATCH = 50
  # Environment or nil, key, value, metadata, days since the value was stored, days until it expires, values before.
  KEYS = [
    ['production', 'shop/db_password', 'k3y-of-the-shop-3', { 'owner' => 'dba' }, 20, 70,
     %w[k3y-of-the-shop-2 k3y-of-the-shop-1]],
    ['production', 'shop/api_token', 'shop-t0ken', { 'owner' => 'payments', 'issuer' => 'bank' }, 88, 2, []],
    ['production', 'shop/url', 'https://shop.example.org', {}, 300, nil, []],
    ['production', 'shop/features', { 'search' => true, 'limit' => 25 }, { 'owner' => 'shop' }, 3, nil,
     [{ 'search' => true, 'limit' => 10 }]],
    ['production', 'billing/db_password', 'k3y-of-billing', { 'owner' => 'dba' }, 85, 5, %w[k3y-of-billing-1]],
    ['production', 'billing/signing/certificate', "-----BEGIN CERTIFICATE-----\nMIIB...\n-----END CERTIFICATE-----\n",
     {}, 200, 165, []],
    ['production', 'wiki/session_secret', 's3ssion', { 'owner' => 'intranet' }, 91, -1, []],
    ['production', 'mail/relay_password', 'r3lay', { 'owner' => 'postmaster' }, 40, 50, []],
    ['staging', 'shop/db_password', 'k3y-of-staging', { 'owner' => 'dba' }, 10, 80, []],
    [nil, 'site/ntp_servers', %w[ntp1.example.org ntp2.example.org], {}, 400, nil, []],
    [nil, 'site/ca_fingerprint', 'SHA256:2f1a9c', { 'owner' => 'security' }, 120, 245, []]
  ].freeze
  DAY = 86_400
  private_constant :RULES, :DECLARED, :BATCH, :KEYS, :DAY

  # @param folder [String] an empty one
  # @return [Hash] the configuration of a site whose store and index are in that folder
  def self.site(folder)
    { 'backends' => { 'default' => { 'type' => 'file', 'id' => 'demo', 'root_path' => File.join(folder, 'store') } },
      'estate' => OPTIONS, 'server' => { 'index' => File.join(folder, 'index') } }
  end

  # Makes the store of a site in files, and fills it; or fills that of one in a directory.
  #
  # @param site [Hash] its configuration
  # @param count [Integer] of nodes
  # @param reports [Integer] of each node
  # @return [void]
  def self.make(site, count, reports: OPTIONS['reports'])
    root = site.dig('backends', 'default', 'root_path')
    Simpkv::Store.open('file', 'root_path' => root).close if root
    new(Simpkv::Estate.new(site)).fill(count, reports)
  end

  # @return [Array<String>] the paths of the keys in the store, without those of hosts
  def self.paths
    KEYS.map { |environment, key,| "#{environment ? "environments/#{environment}" : 'globals'}/#{key}" }
  end

  # @param estate [Simpkv::Estate] of an empty store, with {OPTIONS}
  # @param now [Time]
  def initialize(estate, now: Time.now.utc)
    @estate = estate
    @now = now
  end

  # @param count [Integer] of nodes
  # @param reports [Integer] of each node
  # @return [void]
  def fill(count, reports)
    @estate.make
    store_rules
    store_keys(count)
    declare_nodes
    put(@estate.counters, SampleCompilers.counters(@now).transform_keys { |name| [name] })
    inspector = Simpkv::Inspection::Inspector.of(@estate, [])
    Array.new(count) { |number| SampleNode.new(number) }.each_slice(BATCH) { |nodes| store(nodes, reports, inspector) }
  end

  private

  def declare_nodes
    DECLARED.each do |name, role|
      @estate.nodes.declare(name, 'environment' => 'production', 'parameters' => { 'role' => role })
    end
  end

  # Rules with the same UUID in each store, so that pages have the same addresses.
  def store_rules
    rules = YAML.safe_load(File.read(RULES)).each_with_index.map do |rule, index|
      rule.merge('uuid' => format('6f0c0000-0000-4000-8000-%012d', index + 1))
    end
    Simpkv::Inspection::Rules.of(@estate).import(rules)
  end

  def store_keys(count)
    documents = self.class.paths.zip(KEYS).to_h { |path, (_, _, *rest)| [path, document(*rest)] }
    hosts = Array.new(count) { |number| SampleNode.new(number) }.to_h do |node|
      ["environments/production/hosts/#{node.name}", Simpkv::Codec.encode(node.facts['networking']['ip'])]
    end
    @estate.store.put_many(documents.merge(hosts)).each_value { |result| raise result if result.is_a?(Exception) }
  end

  # A document as {Simpkv::Versions} describes it, of a past time.
  def document(value, metadata, age, expires, before)
    members = Simpkv::Codec.members(Simpkv::Codec.encode(value, metadata)).merge('stored_at' => at(-age))
    members['expires'] = at(expires) if expires
    members['history'] = before.each_with_index.map do |former, index|
      { 'value' => former, 'metadata' => metadata, 'stored_at' => at(-age - (90 * (index + 1))) }
    end
    Simpkv::Native.generate(before.empty? ? members.reject { |name, _| name == 'history' } : members)
  end

  def at(days)
    (@now + (days * DAY)).iso8601
  end

  def store(nodes, reports, inspector)
    nodes.each { |node| store_run(node, inspector) }
    put(@estate.catalogs, nodes.to_h { |node| [[node.name], catalog(node)] })
    store_reports(nodes, reports)
  end

  def store_reports(nodes, reports)
    runs = nodes.to_h { |node| [node, SampleRuns.new(node, @now, reports)] }
    put(@estate.reports, runs.flat_map { |node, run| run.reports.map { |each| [slot(node, each), each] } }.to_h)
    put(@estate.statuses, runs.to_h { |node, run| [[node.name], run.status] })
    runs.each { |node, run| backdate(node, run) }
  end

  def store_run(node, inspector)
    @estate.facts.save(node.name, node.facts, trusted: node.trusted, timestamp: at(-1))
    @estate.exports.save(node.name, node.exports, node.environment)
    inspector.perform(node.name, node.facts)
  end

  # Exports have been saved now. The inventory says so, if nodes expire.
  def backdate(node, run)
    @estate.inventory.update(node.name) { |record| record.merge('seen' => run.status['last_seen']) }
  end

  # The key of a report is the number of its run modulo the option `reports`.
  def slot(node, report)
    [node.name, (report['run'] % OPTIONS['reports']).to_s]
  end

  def catalog(node)
    classes = node.resources.select { |resource| resource['type'] == 'Class' }.map { |each| each['title'].downcase }
    { 'name' => node.name, 'version' => @now.to_i, 'environment' => node.environment, 'resources' => node.resources,
      'edges' => [], 'classes' => classes }
  end

  def put(documents, values)
    documents.put_many(values.transform_values { |value| Simpkv::Codec.encode(value) })
  end
end
