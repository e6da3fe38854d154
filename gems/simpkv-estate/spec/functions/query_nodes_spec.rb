# frozen_string_literal: true

require_relative '../../../../spec/puppet_helper'
require 'simpkv/termini'
require_relative '../support/estate_files'

RSpec.describe 'simpkv::query_nodes' do
  include_context 'with an estate in files'

  let!(:world) { PuppetWorld.new }
  let(:options) { { 'indexed_facts' => %w[os.name cores] } }

  before do
    configure
    save('web1', 'production', 'os' => { 'name' => 'Debian' }, 'cores' => 8)
    save('web2', 'testing', 'os' => { 'name' => 'Debian' }, 'cores' => 16)
    save('db1', 'production', 'os' => { 'name' => 'RedHat' })
  end

  after do
    ENV.delete('SIMPKV_CONFIG')
    Simpkv::Termini.instance_variable_set(:@estate, nil)
    world.close
  end

  # Makes the termini read the configuration again.
  def configure(backend = site['backends']['default'], options = self.options)
    file = File.join(root, 'simpkv.yaml')
    File.write(file, { 'backends' => { 'default' => backend }, 'estate' => options }.to_yaml)
    ENV['SIMPKV_CONFIG'] = file
    Simpkv::Termini.instance_variable_set(:@estate, nil)
  end

  def save(certname, environment, facts)
    estate.facts.save(certname, facts)
    estate.exports.save(certname, {}, environment)
  end

  def query(*arguments)
    world.fresh_catalog.call('simpkv::query_nodes', *arguments)
  end

  it 'returns the names of the nodes whose facts match, sorted' do
    expect(query({ 'os.name' => 'Debian' })).to eq(%w[web1 web2])
    expect(query({ 'environment' => 'production' })).to eq(%w[db1 web1])
    expect(query([['cores', '>', 8], 'or', ['os.name', '==', 'RedHat']])).to eq(%w[db1 web2])
  end

  it 'returns all nodes without a filter' do
    expect(query).to eq(%w[db1 web1 web2])
    expect(query({})).to eq(%w[db1 web1 web2])
  end

  it 'returns facts by the names of the nodes, undef for a missing one' do
    expect(query({ 'certname' => /1$/ }, %w[cores environment certname]))
      .to eq('db1' => { 'cores' => nil, 'environment' => 'production', 'certname' => 'db1' },
             'web1' => { 'cores' => 8, 'environment' => 'production', 'certname' => 'web1' })
  end

  it 'works in a manifest' do
    catalog = world.compile(<<-PUPPET)
      simpkv::query_nodes({ 'os.name' => ['Debian'], 'certname' => /^web/ }, ['cores']).each |$name, $found| {
        notify { "$name ${found['cores']}": }
      }
    PUPPET
    expect(catalog.resources.select { |resource| resource.type == 'Notify' }.map(&:title)).to eq(['web1 8', 'web2 16'])
  end

  it 'reads the inventory once in a catalog' do
    query
    save('web3', 'production', 'cores' => 1)
    expect(world.call('simpkv::query_nodes', { 'certname' => 'web3' })).to eq([])
    expect(query({ 'certname' => 'web3' })).to eq(%w[web3])
  end

  it 'refuses a fact that the inventory does not have, and names the option' do
    message = /\Asimpkv::query_nodes: 'kernel' is not in the inventory: add it to the option 'indexed_facts'/
    expect { query({ 'kernel' => 's3cret' }) }.to raise_error(ArgumentError, message) { |error|
      expect(error.full_message).not_to include('s3cret')
    }
    expect { query({}, %w[kernel]) }.to raise_error(ArgumentError, message)
  end

  it 'refuses an invalid filter' do
    expect { query(['cores', '~', 8]) }.to raise_error(ArgumentError, /the operator after 'cores' must be/)
    expect { query('web1') }.to raise_error(ArgumentError, /parameter 'filter' expects/)
  end

  # It used to leave them out, so that a manifest removed what it had configured for these nodes.
  context 'with records that cannot be read' do
    before do
      %w[web1 web2].each { |name| estate.store.put("globals/estate/inventory/#{name}", 's3cret') }
      estate.store.put('globals/estate/inventory/db1', '{"value":{"facts":["s3cret"]},"metadata":{}}')
    end

    it 'fails, and names the first' do
      expect { query }.to raise_error(Puppet::Error, %r{query the nodes: 'globals/estate/inventory/db1' cannot be read})
    end

    context 'with skip_undecodable' do
      let(:options) { { 'indexed_facts' => %w[cores], 'skip_undecodable' => true } }

      it 'leaves them out, with a warning that names each' do
        expect(query).to eq([])
        expect(world.warnings.grep(%r{left out 'globals/estate/inventory/\w+', which cannot be read}).length).to eq(3)
        expect(world.warnings.join).not_to include('s3cret')
      end
    end
  end

  context 'with node_ttl' do
    let(:options) { { 'indexed_facts' => %w[cores], 'node_ttl' => '1d' } }

    it 'leaves out nodes that have had no run for that time' do
      estate.inventory.update('web2') { |record| record.merge('seen' => '2020-01-01T00:00:00Z') }
      configure
      expect(query).to eq(%w[db1 web1])
    end
  end

  context 'if the backend fails' do
    let(:backend) { { 'type' => 'ldap', 'id' => 'estate', 'ldap_uri' => 'ldapi://%2Fnowhere', 'retries' => 0 } }

    it 'fails with one error' do
      configure(backend)
      expect { query }.to raise_error(RuntimeError, /\Asimpkv estate: could not query the nodes: .*nowhere/)
    end

    it 'returns nothing with soft: true, with one warning' do
      configure(backend, options.merge('soft' => true))
      expect([query, query({}, %w[cores])]).to eq([[], {}])
      expect(world.warnings.length).to eq(2)
      world.call('simpkv::query_nodes')
      expect(world.warnings.length).to eq(2)
    end
  end

  it 'names the file of an invalid configuration' do
    configure(site['backends']['default'], 'soft' => 's3cret')
    expect { query }.to raise_error(RuntimeError, /simpkv.yaml: 'soft' of 'estate' must be true or false/)
  end
end
