# frozen_string_literal: true

require 'simpkv/status/parts/compilers'
require_relative 'inspection_helper'
require_relative '../../../../spec/support/cuttable_proxy'
require_relative '../../../../spec/support/eventually'
require_relative '../../../../spec/support/ldap_store'
require 'simpkv/status/alerts'

# A dead writer stopped every catalog, also one without a call of simpkv. The network to the server of writes is a proxy
# here, which can be cut; another server, the same slapd, answers reads.
RSpec.describe 'The option soft_writes', needs: :mri do
  include EstateSite
  include EstateTermini
  include Eventually
  include InspectedNodes

  include_context 'with slapd'

  let(:network) { CuttableProxy.new(directory.tcp_uri) }
  let(:backend) do
    { 'type' => 'ldap' }.merge(directory.options('ldap_uri' => [directory.tcp_uri, network.uri], 'id' => id,
                                                 'write_uri' => network.uri, 'retries' => 0))
  end
  let(:site_options) { { 'catalogs' => true, 'soft_writes' => true } }
  let(:exporting) { "@@user { 'felix': uid => 1001 }" }

  before do
    Puppet[:reports] = 'simpkv'
    route(:facts, terminus: :memory, cache: :store_configs)
    route(:report, terminus: :processor)
    route(:node, terminus: :simpkv)
    run
  end

  after { network.stop }

  # All that a run of a node does on a server.
  #
  # @return [Puppet::Resource::Catalog]
  def run(certname = 'web1', manifest = exporting, more = {})
    Puppet::Node::Facts.indirection.save(facts(certname, more))
    catalog = compile_found(certname, manifest)
    save(certname, catalog)
    report(certname)
    catalog
  end

  def report(certname)
    Puppet[:node_name_value] = certname
    report = Puppet::Transaction::Report.new(nil, 'production', 'uuid')
    report.host = certname
    report.finalize_report
    Puppet::Transaction::Report.indirection.save(report)
  end

  # Kills the connections to the server of writes. The examples before have made no mistake that a warning tells.
  def cut
    messages.clear
    network.cut
  end

  # Heals the network, and runs a node until it drops nothing: the pool tries the server again after a while.
  def heal
    network.heal
    eventually do
      messages.clear
      yield
      warnings.empty?
    end
  end

  def dropped
    warnings.map { |text| text[/could not (save the [a-z ]+) of 'web\d'.*It is dropped/m, 1] }
  end

  def refused(&run)
    expect(&run).to raise_error(Puppet::Error, /simpkv estate: could not/)
  end

  it 'drops what a run reports, with a warning, and stores it with the next run' do
    stored = documents
    cut
    catalog = run('web1', "#{exporting} @@group { 'staff': } notify { 'a': }", 'cores' => 8)
    expect(titles(catalog, 'Notify')).to eq(['a'])
    expect(dropped).to eq(['save the facts', 'save the exported resources', 'save the catalog', 'save the report'])
    expect(documents).to eq(stored)

    heal { run('web1', "#{exporting} @@group { 'staff': }") }
    expect([warnings, estate.exports.of('web1').keys.sort]).to eq([[], %w[group user]])
  end

  # @return [Hash{String => String}] all documents of the estate
  def documents
    store = Simpkv::LdapAccess.open(Simpkv::Config.typed(backend.reject { |name, _| name == 'write_uri' }, 'default'))
    store.tree('globals/estate')[:keys]
  ensure
    store&.close
  end

  it 'lets a catalog collect all that is exported' do
    run('web2', "@@user { 'anna': uid => 1002 }")
    cut
    expect(titles(run('web3', 'User <<| |>>'), 'User')).to contain_exactly('felix', 'anna')
    expect(dropped.length).to eq(4)
  end

  it 'fails a catalog that cannot collect all' do
    estate.store.delete('globals/estate/exported/user/web1')
    cut
    refused { run('web3', 'User <<| |>>') }
  end

  it 'fails a catalog if no server answers' do
    cut
    configure(site_options.merge('node_ttl' => '7d'))
    backend['ldap_uri'] = backend['write_uri']
    configure
    refused { run('web3', 'User <<| |>>') }
  end

  it 'is off unless it is set' do
    configure('catalogs' => true)
    cut
    refused { run }
    expect(messages.map(&:message).grep(/dropped/)).to eq([])
  end

  describe 'of nodes that the terminus simpkv finds' do
    let(:refuse) { { 'unknown_nodes' => 'refuse', 'soft_writes' => true } }

    it 'compiles a declared node, and refuses others' do
      estate.nodes.declare('web1', 'environment' => 'testing', 'classes' => [])
      configure(refuse)
      cut
      expect(find('web1').environment.name).to eq(:testing)
      expect { find('web2') }.to raise_error(Puppet::Error, /'web2': it is not declared/)
    end

    it 'lets a rule refuse a node, and drops the outcome of an inspection' do
      estate.nodes.declare('web1', 'classes' => [])
      rules.create('conditions' => [{ 'op' => 'eq', 'args' => ['{inventory[hostname]}', 'web2'] }],
                   'actions' => [{ 'op' => 'fail', 'args' => ['no'] }])
      configure(refuse.merge('unknown_nodes' => 'accept'))
      cut
      expect(find('web1').name).to eq('web1')
      expect(dropped).to eq(['save the inspection'])
      expect { find('web2') }.to raise_error(Puppet::Error)
    end

    it 'does not discover a node that it cannot store' do
      configure(refuse.merge('unknown_nodes' => 'discover'))
      cut
      refused { find('new1') }
    end
  end

  # Only a report stored it, so that sites without reports were never told.
  it 'is told without reports' do
    Puppet[:reports] = 'store'
    cut
    save_facts = -> { Puppet::Node::Facts.indirection.save(facts('web1', 'cores' => rand(1_000_000))) }
    save_facts.call
    heal(&save_facts)
    expect(Simpkv::Status::Compilers.of(estate)).to match([include('dropped' => include('count' => be_positive))])
  end

  it 'drops nothing if a call was stopped, or the directory lacks the base entry' do
    [Simpkv::InterruptedError, Simpkv::MissingBaseError].each do |type|
      failing = -> { raise type, 'x' }
      expect { Simpkv::Termini.drop('save', &failing) }.to raise_error(type)
    end
    expect(estate.counters).not_to be_dropped
  end

  it 'is told by simpkv status when the server is back' do
    cut
    run
    heal { run }
    compilers = Simpkv::Status::Compilers.of(estate)
    expect(compilers).to match([include('dropped' => include('count' => be_positive))])
    alerts = Simpkv::Status::Alerts.new('compilers' => { 'compilers' => compilers }).all
    expect(alerts.map { |alert| [alert.level, alert.text] })
      .to match([['warning', /\AWhat runs reported was dropped, .*: \d+ times on \S+, the last at /]])
  end
end
