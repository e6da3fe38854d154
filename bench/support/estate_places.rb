# frozen_string_literal: true

require 'tmpdir'
require 'yaml'
require_relative '../../gems/simpkv-server/spec/support/puppetdb'
require_relative 'contest'
require 'simpkv/estate'
require_relative 'estate_data'

# The stores of the benchmark of the estate, each with the same nodes: files, slapd and 389-DS; in a quick run, files
# and slapd. They flush their writes to the disk, and so does PuppetDB.
class EstatePlaces
  # 389-DS with the allocator that its package's unit preloads, an entry cache that holds all documents, and a database
  # cache below the default: docs/performance.md.
  class DS389 < Contest::DS389
    CACHE = 128 << 20
    DATABASE_CACHE = 16 << 20
    ALLOCATOR = File.read('/lib/systemd/system/dirsrv@.service.d/custom.conf')[/^Environment=(LD_PRELOAD=\S+)/, 1]

    private

    def command
      ['env', *ALLOCATOR, *super]
    end

    def settings
      super.transform_values do |lines|
        lines.map { |line| line.sub(/(?<=nsslapd-dbcachesize: ).*/, DATABASE_CACHE.to_s) }
      end
    end
  end

  # name:: for the tables
  # config:: the file with the options of the estate
  # pid:: the process of the server; nil for files
  Place = Struct.new(:name, :config, :pid, keyword_init: true)

  # The number of documents in a batch.
  BATCH = 500
  private_constant :BATCH

  # Starts the servers, fills the stores, and yields the places; stops the servers afterwards.
  #
  # @yieldparam places [Array<Place>]
  def self.run
    Dir.mktmpdir('estate') do |folder|
      Contest::OpenLDAP.run(limits: true, durable: true) do |slapd|
        next yield(new(folder, 'slapd' => slapd).places) if EstateData::QUICK

        DS389.run(limits: true, durable: true) { |ds389| yield new(folder, 'slapd' => slapd, '389-DS' => ds389).places }
      end
    end
  end

  # Stores the nodes in a PuppetDB, and waits until queries return them: minutes.
  #
  # @param puppetdb [PuppetDB]
  def self.fill(puppetdb)
    EstateData::NODES.times do |number|
      resources = EstateData.catalog_resources(EstateData.exports(number))
      puppetdb.replace_catalog(EstateData.name(number), resources, wait: false)
    end
    # PuppetDB may carry out commands in another order.
    sleep 0.5 until puppetdb.query('nodes', ['extract', [%w[function count]]]).first['count'] == EstateData::NODES
    EstateData::TYPES.each do |type, (resources, _)|
      count = ['extract', [%w[function count]], ['and', ['=', 'type', type], ['=', 'exported', true]]]
      sleep 0.5 until puppetdb.query('resources', count).first['count'] == resources
    end
  end

  # @return [Array<Place>]
  attr_reader :places

  def initialize(folder, servers)
    @folder = folder
    sources = fill_files
    @places = [Place.new(name: 'files', config: config('files', files))]
    servers.each do |name, server|
      options = { 'type' => 'ldap' }.merge(server.options('id' => Contest::ID, 'operation_timeout_seconds' => 600))
      copy(sources, options.reject { |option, _| option == 'type' })
      @places << Place.new(name: name, config: config(name, options), pid: server.pid)
    end
  end

  private

  def files
    { 'type' => 'file', 'id' => Contest::ID, 'root_path' => File.join(@folder, 'files') }
  end

  # @return [String] a file with the options of the estate
  def config(name, backend)
    file = File.join(@folder, "#{name}.yaml")
    File.write(file, { 'backends' => { 'default' => backend } }.to_yaml)
    file
  end

  # Fills a store in memory and copies its files, which takes less time.
  #
  # @return [Hash{String => String}] all documents
  def fill_files
    Dir.mktmpdir('estate') do |root|
      store = Simpkv::Store.open('file', 'root_path' => root)
      estate = Simpkv::Estate.new({ 'backends' => { 'default' => files } }) { store }
      estate.make
      EstateData::NODES.times { |number| fill(estate, number) }
      FileUtils.cp_r(root, files['root_path'])
      store.tree('globals')[:keys].transform_keys { |path| "globals/#{path}" }
    end
  end

  def fill(estate, number)
    name = EstateData.name(number)
    estate.exports.save(name, EstateData.by_name(EstateData.exports(number)), 'production')
    estate.statuses.put(name, 'last_seen' => EstateData::SEEN, 'environment' => 'production',
                              'status' => 'unchanged', 'noop' => false, 'changes' => 0, 'failures' => 0, 'runs' => 7)
  end

  def copy(documents, options)
    store = Simpkv::Store.open('ldap', options)
    documents.each_slice(BATCH) do |batch|
      store.put_many(batch.to_h).each_value { |result| raise result if result.is_a?(Simpkv::Error) }
    end
  ensure
    store&.close
  end
end
