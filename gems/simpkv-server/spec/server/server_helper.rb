# frozen_string_literal: true

require 'simpkv/estate'
require_relative '../../../../spec/support/eventually'
require_relative '../../../../spec/support/ldap_store'
require_relative '../../../../spec/support/processes'
require_relative '../../../../spec/support/scratch'
require_relative '../support/service'

# The configuration of a service over a store in files, or in a directory. `@root` is the folder of the store.
RSpec.shared_context 'with the configuration of a service' do
  let(:backends) { { 'default' => { 'type' => 'file', 'id' => 'spec', 'root_path' => @root } } }
  # The section `server` of the configuration.
  let(:section) { {} }
  let(:options) { { 'backends' => backends, 'server' => { 'index' => "#{@root}.index" }.merge(section) } }
  let(:client) { service.client }
  # The store, as other processes use it.
  let(:store) { Simpkv::Store.open('file', 'root_path' => @root) }

  # Makes the estate, as `simpkv init` does.
  def make_estate
    Simpkv::Estate.new(options).make
  end

  # Lets a key of the environment production expire, as time does.
  def expire(name)
    place = "environments/production/#{name}"
    store.put(place, JSON.generate(JSON.parse(store.get(place)).merge('expires' => '2020-01-01T00:00:00Z')))
  end
end

# A service for each example.
#
#   include_context 'with a service'
#   service.client.get('/v1/nodes')
RSpec.shared_context 'with a service' do |*arguments, env: {}|
  include_context 'with the configuration of a service'

  around do |example|
    Scratch.make('service') do |folder|
      @root = File.join(folder, 'store')
      Dir.mkdir(@root)
      example.run
    ensure
      @service&.stop
    end
  end

  let(:service) { @service = Service.new(options, *arguments, env: env).tap(&:start) }

  before { store }
end

# One service for all examples of a group, each of which begins with an empty store, or with an estate of nothing. An
# example with another configuration, or after one that has stopped the service, has a new service. With
# `indexed: true`, the index has what an example stored before it first uses `service`, as if the service began then.
RSpec.shared_context 'with a service for all examples' do |*arguments, indexed: false|
  include_context 'with the configuration of a service'

  before(:context) { @kept = { folder: Scratch.make('service') } }

  after(:context) do
    stop_kept
    FileUtils.rm_rf(@kept.fetch(:folder))
  end

  let(:id) { @kept[:id] ||= "i#{LdapIds.next}" }
  let(:service) do
    stop_kept unless @kept[:options] == options && @kept[:service]&.pid && (!indexed || index_made)
    @kept[:options] = options
    @kept[:service] ||= Service.new(options, *arguments).tap(&:start).tap { |begun| await_index(begun) if indexed }
  end

  before do
    @root = File.join(@kept.fetch(:folder), 'store')
    FileUtils.mkdir_p(@root)
    empty(store)
  end

  # Waits until the index is complete, or cannot be made.
  def await_index(service)
    eventually(within: 60) do
      index = service.client.get('/readyz').data.fetch('index', 'ok' => true)
      index['ok'] || index['error']
    end
  end

  # Stops the service, and deletes its index.
  def stop_kept
    @kept.delete(:service)&.stop
    FileUtils.rm_rf(File.join(@kept.fetch(:folder), 'store.index'))
  end

  # Makes the index anew. The service refreshes it once a second only, and would take a node for unchanged that two
  # examples save with the same status.
  #
  # @return [Boolean] false if a document cannot be read, or could not be read when the service refreshed the index
  def index_made
    require 'simpkv/query/builder' # It needs SQLite, which not all stages have that load this file.
    estate = Simpkv::Estate.new(options)
    index = Simpkv::Query::Index.of(estate, options.fetch('server').fetch('index'))
    Simpkv::Query::Builder.new(estate, index).build
    @kept[:service].client.get('/readyz').data.dig('index', 'error').nil?
  rescue Simpkv::Estate::MissingError
    true
  rescue Simpkv::ConfigError, Simpkv::Error
    false
  ensure
    index&.close
  end

  # Deletes all keys but the markers of an estate.
  def empty(store)
    store.deletetree('environments')
    markers, keys = store.tree('globals', values: false, required: false)[:keys].keys.partition do |key|
      File.basename(key) == Simpkv::Estate::MARKER
    end
    return store.deletetree('globals') if markers.empty?

    keys.each { |key| store.delete("globals/#{key}") }
  end
end

RSpec.configure do |config|
  config.include(Eventually)
  config.include(Processes)
  config.define_derived_metadata(file_path: %r{/spec/server/}) { |metadata| metadata[:needs] ||= :cext }
end
