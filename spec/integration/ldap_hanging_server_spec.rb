# frozen_string_literal: true

require_relative '../puppet_helper'
require_relative '../support/eventually'
require_relative '../support/ldap_store'
require_relative '../support/replica'
require_relative '../support/silent_proxy'

# A stopped process accepts connections, and answers nothing. Each compiler used to lose its whole operation timeout,
# and to fail a catalog, although the second server was healthy. `slapd` is the supplier and the second server.
RSpec.describe 'A store whose first server hangs', :once do
  include Eventually

  include_context 'with slapd', more: Replica::SUPPLIER

  before(:context) do
    @first = Replica.new(slapd)
    @first.start
  end

  after(:context) { @first.stop }

  attr_reader :first

  let(:uris) { [first.tcp_uri, slapd.tcp_uri] }
  let(:options) do
    slapd.options('id' => id, 'ldap_uri' => uris.join(' '), 'write_uri' => slapd.tcp_uri, 'admin_dn' => admin_dn,
                  'operation_timeout_seconds' => 8)
  end
  # Each example has connections of its own.
  let(:admin_dn) { Slapd::USER_DN.sub(',', ",#{' ' * LdapIds.next}") }
  let(:reader) { open_store(options) }
  let(:silent) { SilentProxy.new(slapd) }

  before do
    open_store.put('globals/f/k', '{"value":1}')
    open_store.put('globals/f/l', '{"value":2}')
    eventually { open_apart('ldap_uri' => first.tcp_uri).get('globals/f/l') }
  end

  after { silent.stop }

  # @return [Hash] the statistics of a server of the pool of this example
  def server(uri)
    servers = Simpkv.stats['pools'].select { |pool| pool['identity'] == admin_dn }.map { |pool| pool['servers'] }
    servers.find { |each| each.length == uris.length }.find { |each| each['uri'] == uri }
  end

  reads = {
    'a get' => ->(store) { expect(store.get('globals/f/k')).to eq('{"value":1}') },
    'a look at what a key is' => ->(store) { expect(store.kind('globals/f/k')).to eq(:key) },
    'a list' => ->(store) { expect(store.list('globals/f')[:keys].keys).to contain_exactly('k', 'l') },
    'a tree' => ->(store) { expect(store.tree('globals')[:keys].keys).to contain_exactly('f/k', 'f/l') },
    'a batch of gets' => lambda do |store|
      expect(store.get_many(%w[globals/f/k globals/f/l]).values.join).to include('1', '2')
    end
  }

  reads.each do |name, read|
    it "sends #{name} to the second server, within the deadline of the call" do
      instance_exec(reader, &read)
      expect(server(uris.first)['open']).to eq(1)
      first.freeze_process do
        instance_exec(reader, &read)
        expect(server(uris.first)).to include('timeouts' => 1)
        expect(server(uris.last)).to include('open' => 1)
      end
    end
  end

  it 'loses the time once: the server that hangs is in quarantine for as long as it was silent' do
    reader.get('globals/f/k')
    first.freeze_process do
      reader.get('globals/f/k')
      took = seconds { 100.times { reader.get('globals/f/k') } }
      expect(took).to be < 20
      expect(server(uris.first)).to include('timeouts' => 1, 'connects' => 1)
    end
  end

  it 'compiles catalogs' do
    world = PuppetWorld.new(hiera: { 'backends' => { 'default' => options.merge('type' => 'ldap') } })
    expect(world.call('simpkv::get', 'f/k', { 'global' => true })['value']).to eq(1)
    first.freeze_process do
      3.times do
        world.fresh_catalog
        expect(world.call('simpkv::get', 'f/k', { 'global' => true })['value']).to eq(1)
        expect(world.call('simpkv::list', 'f', { 'global' => true })['keys'].length).to eq(2)
      end
    end
    world.close
  end

  # A first put took 10.9 s: it waited for 'connect_timeout_seconds' twice. It said that the server may not speak TLS.
  it 'costs the time for a connection once if it is the only server, and is named as one that may hang' do
    more = { 'ldap_uri' => first.tcp_uri, 'write_uri' => first.tcp_uri, 'connect_timeout_seconds' => 1, 'retries' => 9 }
    alone = open_store(options.merge(more))
    first.freeze_process do
      expect { alone.put('globals/f/k', '{"value":3}') }.to raise_error(
        Simpkv::UnavailableError,
        /timed out while binding: it accepts connections, and does not answer: check that it does not hang/
      )
    end
    pools = Simpkv.stats['pools'].select { |pool| pool['identity'] == admin_dn }.map { |pool| pool['servers'] }
    failures = pools.find { |servers| servers.length == 1 && servers.first['uri'] == first.tcp_uri }
    expect(failures.first).to include('failures' => 1)
  end

  context 'when the call writes' do
    let(:writer) { open_store(options.merge('ldap_uri' => "#{silent.uri} #{slapd.tcp_uri}", 'write_uri' => '')) }

    before { writer.get('globals/f/k') }

    it 'goes to the second server if the first one has not received the write' do
      silent.hold(:search) { expect(writer.put('globals/f/k', '{"value":3}')).to be(true) }
      expect(silent.count(:modify)).to eq(0)
      expect(open_store.get('globals/f/k')).to eq('{"value":3}')
    end

    it 'fails if the first one may have received the write, and says that the outcome is unknown' do
      silent.hold(:modify) do
        expect { writer.put('globals/f/k', '{"value":3}') }.to raise_error(
          Simpkv::TimeoutError, /no answer in time \('operation_timeout_seconds'\): the outcome is unknown/
        )
      end
      expect(silent.count(:modify)).to eq(1)
    end
  end
end
