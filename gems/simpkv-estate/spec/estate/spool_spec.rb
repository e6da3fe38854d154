# frozen_string_literal: true

require_relative 'away_helper'

# A dead writer stopped every catalog, or what it reported was lost.
RSpec.describe 'The option spool', needs: :mri do
  include_context 'with a writer that can be cut'

  let(:site_options) { { 'catalogs' => true, 'spool' => File.join(scratch, 'spool') } }

  def waiting
    estate.spool.waiting.map(&:kind)
  end

  # Heals the network, and delivers what waits: the pool tries the server again after a while.
  def deliver
    network.heal
    deliveries = []
    eventually { deliveries.push(estate.spool.deliver(wait: true)) && waiting.empty? }
    deliveries.sum(&:stored)
  end

  # @return [Simpkv::Estate] the one of another compiler, which reaches the server of writes
  def elsewhere
    backend = self.backend.merge('ldap_uri' => [directory.tcp_uri], 'write_uri' => directory.tcp_uri)
    Simpkv::Estate.new({ 'backends' => { 'default' => backend }, 'estate' => { 'catalogs' => true } })
  end

  it 'keeps what a run reports, tells it once, and delivers it' do
    stored = documents
    cut
    catalog = run('web1', "#{exporting} @@group { 'staff': } notify { 'a': }", 'cores' => 8)
    expect(titles(catalog, 'Notify')).to eq(['a'])
    expect(waiting).to eq(%w[facts exports catalog report])
    expect(warnings).to match([/could not save the facts of 'web1'.*waits in the spool/m])
    expect(documents).to eq(stored)

    expect(deliver).to eq(4)
    expect([estate.exports.of('web1').keys.sort, estate.facts.find('web1')['values']['cores'],
            estate.statuses.get('web1')['runs']]).to eq([%w[group user], 8, 2])
  end

  # Another server had the same, and what the server of writes has since is unknown.
  it 'keeps what another server says is stored already' do
    cut
    run
    expect(waiting).to eq(%w[facts exports catalog report])
    expect { estate.deactivate('web1') }.to raise_error(Simpkv::TransientError)
  end

  it 'lets a catalog collect all that is exported, and what others have left come with the next run' do
    run('web2', "@@user { 'anna': uid => 1002 }")
    cut
    expect(titles(run('web3', 'User <<| |>>'), 'User')).to contain_exactly('felix', 'anna')
    network.heal
    eventually { run('web1') && waiting.empty? }
    expect(estate.facts.find('web3')).to include('values')
  end

  it 'fails a catalog that cannot collect all' do
    estate.store.delete('globals/estate/exported/user/web1')
    cut
    refused { run('web3', 'User <<| |>>') }
  end

  it 'fails a catalog that the spool cannot take' do
    cut
    run('web2')
    old = Dir[File.join(scratch, 'spool/globals/spool/*')].min
    File.rename(old, old.sub(%r{/\d{16}}, "/#{'0' * 16}"))
    configure(site_options) # This process has counted what waits.
    expect { run('web3') }.to raise_error(Puppet::Error, /the spool '.*' is full/)
  end

  # The spool took them, and could never deliver them.
  it 'fails a catalog with exports that no store can take' do
    cut
    long = 'l' * 238
    expect { run('web2', "define #{long} { } @@#{long} { 'a': }") }.to raise_error(Puppet::Error, /too long for/)
    expect(waiting).to eq(%w[facts])
  end

  it 'lets a rule refuse a node, and keeps the outcome of an inspection, but discovers no node' do
    rules.create('conditions' => [{ 'op' => 'eq', 'args' => ['{inventory[hostname]}', 'web2'] }],
                 'actions' => [{ 'op' => 'fail', 'args' => ['no'] }])
    estate.nodes.declare('web1', 'classes' => [])
    configure(site_options.merge('unknown_nodes' => 'discover'))
    cut
    expect(find('web1').name).to eq('web1')
    expect(waiting).to eq(%w[inspection])
    expect { find('web2') }.to raise_error(Puppet::Error)
    refused { find('new1') }
  end

  it 'brings back no node that was deactivated meanwhile, and nothing that is older than what is stored' do
    run('web2')
    cut
    run('web1', "@@user { 'old': }", 'cores' => 8)
    run('web2')
    elsewhere.deactivate('web2')
    elsewhere.exports.save('web1', { 'user' => [{ 'title' => 'new' }] }, 'production')
    elsewhere.reports.save('web1', { 'status' => 'changed', 'time' => (Time.now.utc + 1).iso8601 })
    expect(deliver).to eq(1) # The report of web1.
    expect([estate.exports.of('web1').values, estate.facts.find('web1')['values']['cores'], estate.exports.of('web2')])
      .to eq([[[{ 'title' => 'new' }]], nil, {}])
  end
end
