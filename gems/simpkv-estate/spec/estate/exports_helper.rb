# frozen_string_literal: true

require_relative '../../../../spec/puppet_helper'
require_relative '../../../../spec/support/scratch'
require 'simpkv/termini'

# A site whose compiler has `storeconfigs_backend = simpkv`, in this process.
module EstateSite
  PRODUCTION = 'production'

  # Runs the examples with the estate in a folder; `site_options` are those of `estate`.
  def self.included(group)
    group.let(:site_options) { {} }
    group.let(:scratch) { Scratch.make('simpkv-estate') }
    group.let(:backend) { { 'type' => 'file', 'id' => 'estate', 'root_path' => File.join(scratch, 'root') } }
    group.let(:modules) { File.join(scratch, 'modules') }
    group.let(:messages) { [] }
    group.before { start_site }
    group.after do
      Puppet::Util::Log.close(@destination)
      ENV.delete('SIMPKV_CONFIG')
      FileUtils.chmod_R('u+rwx', scratch)
      FileUtils.remove_entry(scratch)
    end
  end

  # @return [Simpkv::Estate] the one that the termini use
  def estate
    Simpkv::Termini.estate
  end

  # Makes the store and the estate, as `simpkv init` does: the termini do not.
  def make_store
    return unless backend['type'] == 'file' || respond_to?(:directory)

    Simpkv::Store.open('file', backend.slice('root_path')).close if backend['type'] == 'file'
    Simpkv::Estate.new({ 'backends' => { 'default' => backend } }).make
  end

  # Makes the termini read the configuration again.
  def configure(options = site_options)
    file = File.join(scratch, 'simpkv.yaml')
    File.write(file, { 'backends' => { 'default' => backend }, 'estate' => options }.to_yaml)
    ENV['SIMPKV_CONFIG'] = file
    Simpkv::Termini.instance_variable_set(:@estate, nil)
  end

  # Compiles the catalog of a node, and saves it as the compiler's cache, as a server does for an agent.
  #
  # @return [Puppet::Resource::Catalog]
  def run_node(certname, manifest, environment: PRODUCTION)
    compile(certname, manifest, environment: environment).tap { |catalog| save(certname, catalog) }
  end

  def compile(certname, manifest, environment: PRODUCTION)
    Puppet[:code] = manifest
    place = Puppet::Node::Environment.create(environment.to_sym, [modules])
    node = Puppet::Node.new(certname, environment: place, facts: Puppet::Node::Facts.new(certname, {}))
    Puppet.override(environments: Puppet::Environments::Static.new(place), current_environment: place) do
      Puppet::Parser::Compiler.compile(node)
    end
  ensure
    Puppet[:code] = ''
  end

  # @param options [Hash{Symbol => String}] of the agent's request
  def save(certname, catalog, **options)
    indirection = Puppet::Resource::Catalog.indirection
    indirection.cache.save(indirection.request(:save, certname, catalog, node: certname, ip: '127.0.0.1', **options))
  end

  # @return [Array<Puppet::Resource>] those of a type that the node manages
  def managed(catalog, type)
    catalog.resources.select { |resource| resource.type == type && !resource.virtual? }
  end

  def titles(catalog, type)
    managed(catalog, type).map(&:title)
  end

  def warnings
    messages.select { |message| message.level == :warning }.map(&:message)
  end

  # Adds a manifest to the modulepath.
  def add_manifest(name, text)
    parts = name.split('::')
    parts << 'init' if parts.one?
    file = File.join(modules, parts.first, 'manifests', *parts.drop(1)) << '.pp'
    FileUtils.mkdir_p(File.dirname(file))
    File.write(file, text)
  end

  private

  def start_site
    FileUtils.mkdir_p(modules)
    make_store
    configure
    Puppet[:storeconfigs_backend] = 'simpkv'
    Puppet[:storeconfigs] = true
    @destination = Puppet::Test::LogCollector.new(messages)
    Puppet::Util::Log.newdestination(@destination)
    messages.clear
  end
end
