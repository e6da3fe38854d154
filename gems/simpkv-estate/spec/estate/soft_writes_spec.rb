# frozen_string_literal: true

require 'simpkv/status/parts/compilers'
require_relative 'away_helper'
require 'simpkv/status/alerts'

# A dead writer stopped every catalog, also one without a call of simpkv.
RSpec.describe 'The option soft_writes', needs: :mri do
  include_context 'with a writer that can be cut'

  let(:site_options) { { 'catalogs' => true, 'soft_writes' => true } }

  def dropped
    warnings.map { |text| text[/could not (save the [a-z ]+) of 'web\d'.*It is dropped/m, 1] }
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
      write = Class.new(Simpkv::Estate::RunWrite) { define_method(:save) { |_estate| failing.call } }
      expect { Simpkv::Termini.store('save', write.new('web1', {})) }.to raise_error(type)
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
