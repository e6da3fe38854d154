# frozen_string_literal: true

require_relative '../puppet_helper'
require_relative '../support/ldap_store'
require_relative '../support/eventually'
require_relative '../support/key_file'
require_relative '../support/replica'

# `slapd` is the supplier.
RSpec.describe 'A store on replicas', :once do
  include Eventually

  include_context 'with slapd', more: Replica::SUPPLIER

  attr_reader :replica, :lagging

  before(:context) do
    @replica = Replica.new(slapd)
    @lagging = Replica.new(slapd, follows: false)
    [replica, lagging].each(&:start)
  end

  after(:context) { [replica, lagging].each(&:stop) }

  # Opens a store with its own pool, so that no example sees servers that another example's pool has marked down.
  def open_on(uri, more = {})
    open_store({ 'ldap_uri' => uri, 'write_uri' => slapd.tcp_uri, 'admin_dn' => admin_dn,
                 'connect_timeout_seconds' => 2 }.merge(more))
  end

  let(:admin_dn) { Slapd::USER_DN.sub(',', ",#{' ' * LdapIds.next}") }
  let(:writer) { open_on(replica.uri) }

  # A store that has not written, and therefore reads from its replica.
  let(:reader) { open_on(replica.uri) }

  def document(value)
    "{\"value\":#{value}}"
  end

  # Stores a key with one document on the lagging replica, and with another on the supplier.
  def outdated(key, there, here)
    writer.put(key, there)
    lagging.restart
    eventually { open_on(lagging.uri).get(key) == there }
    writer.put(key, here)
  end

  def while_supplier_is_down
    slapd.stop_serving
    yield
  ensure
    slapd.launch
  end

  # Reads a key until the block returns true.
  #
  # @param found [Hash] how often the key had each document
  def read_until(store, found)
    found[store.get('globals/a/k')] += 1 until yield
  end

  it 'reads from its replica, and writes to the supplier' do
    writer.put('globals/a/k', document(1))
    eventually { reader.get('globals/a/k') == document(1) }
    before = slapd.log.length
    reader.list('globals/a')
    reader.kind('globals/a')
    expect(slapd.log[before..]).not_to match(/SRCH base="[^"]*ou=#{id},/)
    expect(replica.log).not_to match(/(ADD|MOD) dn="[^"]*ou=#{id},/)
  end

  describe 'whose supplier is down' do
    before do
      writer.put('globals/a/k', document(1))
      eventually { open_on(replica.uri).get('globals/a/k') == document(1) }
    end

    it 'continues to read' do
      while_supplier_is_down do
        expect(reader.get('globals/a/k')).to eq(document(1))
        expect(reader.kind('globals/a')).to eq(:folder)
        expect(reader.kind('globals/none')).to be_nil
        expect(reader.list('globals/a')[:keys]).to eq('k' => document(1))
      end
    end

    it 'continues to read after a write that failed' do
      while_supplier_is_down do
        expect { reader.put('globals/a/k', document(2)) }.to raise_error(Simpkv::UnavailableError)
        expect(reader.get('globals/a/k')).to eq(document(1))
      end
    end

    it 'fails each write with the server and the reason, and writes again when the supplier is back' do
      writes = { put: ['globals/a/k', document(2)], delete: ['globals/a/k'], deletetree: ['globals/a'] }
      while_supplier_is_down do
        writes.each do |call, arguments|
          expect { writer.public_send(call, *arguments) }
            .to raise_error(Simpkv::UnavailableError, /#{slapd.tcp_uri}: connection refused/)
        end
      end
      expect(eventually { writer.put('globals/a/k', document(2)) }).to be(true)
      eventually { reader.get('globals/a/k') == document(2) }
    end

    # Otherwise the unchanged document of a replica would pass for a successful write.
    it 'fails even a put of the document that the replica already has' do
      while_supplier_is_down do
        expect { open_on(replica.uri).put('globals/a/k', document(1)) }.to raise_error(Simpkv::UnavailableError)
        expect { open_on(replica.uri).put('globals/a/k', document(1), condition: :absent) }
          .to raise_error(Simpkv::UnavailableError)
      end
    end
  end

  describe 'that lag behind' do
    it 'puts a document that the replica still has and the supplier does not (the write was lost)' do
      outdated('globals/a/k', document(1), document(2))
      late = open_on(lagging.uri)
      expect(late.get('globals/a/k')).to eq(document(1))
      expect(late.put('globals/a/k', document(1))).to be(true)
      expect(store.get('globals/a/k')).to eq(document(1))
    end

    it "checks conditions against the supplier's document" do
      outdated('globals/a/k', document(1), document(2))
      writer.put('globals/new', document(1))
      expect { open_on(lagging.uri).put('globals/a/k', document(3), condition: :expect, expect: document(1)) }
        .to raise_error(Simpkv::ConflictError)
      expect(open_on(lagging.uri).put('globals/a/k', document(3), condition: :expect, expect: document(2))).to be(true)
      expect { open_on(lagging.uri).put('globals/new', document(1), condition: :absent) }
        .to raise_error(Simpkv::ExistsError)
    end

    it 'deletes keys and folders that the replica does not have yet' do
      outdated('globals/a/k', document(1), document(2))
      writer.put('globals/a/new', document(1))
      writer.put('globals/folder/new', document(1))
      expect(open_on(lagging.uri).delete('globals/a/new')).to be(true)
      expect(open_on(lagging.uri).deletetree('globals/folder')).to be(true)
      expect(store.list('globals')).to eq(keys: {}, folders: ['a'], errors: {})
    end

    it "reads the supplier's document if asked for the latest, and otherwise continues to read the replica's" do
      outdated('globals/a/k', document(1), document(2))
      late = open_on(lagging.uri)
      expect([late.get('globals/a/k', latest: true), late.get('globals/a/k')]).to eq([document(2), document(1)])
      writer.put('globals/new', document(3))
      expect(late.get('globals/new', latest: true)).to eq(document(3))
      expect { late.get('globals/new') }.to raise_error(Simpkv::NotFoundError)
    end

    it 'reads its own writes' do
      outdated('globals/a/k', document(1), document(2))
      late = open_on(lagging.uri)
      expect([late.get('globals/a/k'), late.kind('globals/new')]).to eq([document(1), nil])
      late.put('globals/new', document(3))
      expect([late.get('globals/a/k'), late.kind('globals/new')]).to eq([document(2), :key])
      expect(late.list('globals')[:keys]).to eq('new' => document(3))
      expect(open_on(lagging.uri).kind('globals/new')).to be_nil
    end
  end

  describe 'that lag behind, with encrypted documents' do
    include KeyFile

    def sealed(value)
      keyring.encrypt('ldap/x', 'globals/a/k', document(value))
    end

    # Expects an outcome of the block, which gets a store whose replica has document 1, while the supplier has 2.
    def expect_late(outcome)
      outdated('globals/a/k', sealed(1), sealed(2))
      late = Simpkv::EncryptedStore.new(open_on(lagging.uri), keyring, 'ldap/x')
      expect(yield(late)).to match(outcome)
      late.get('globals/a/k', latest: true)
    end

    it "decide on a write by the supplier's document" do
      expect(expect_late(true) { |late| late.put('globals/a/k', document(1)) }).to eq(document(1))
      expect(expect_late('globals/a/k' => true) { |late| late.put_many({ 'globals/a/k' => document(1) }) })
        .to eq(document(1))
      new = { 'globals/a/k' => document(3) }
      [[document(1), Simpkv::ConflictError, document(2)], [document(2), true, document(3)]].each do |old, outcome, now|
        late_put = ->(late) { late.put_many(new, condition: :expect, expect: { 'globals/a/k' => old }) }
        expect(expect_late('globals/a/k' => outcome, &late_put)).to eq(now)
      end
      expect(expect_late(false) { |late| late.delete('globals/a/k', expect: document(1)) }).to eq(document(2))
    end
  end

  describe 'that lag behind, in a catalog' do
    let(:path) { 'environments/production/a/k' }
    let(:backend) do
      slapd.options('type' => 'ldap', 'id' => id, 'ldap_uri' => lagging.uri, 'write_uri' => slapd.tcp_uri,
                    'admin_dn' => admin_dn)
    end
    let!(:world) { PuppetWorld.new(hiera: { 'backends' => { 'default' => backend } }) }

    after { world.close }

    it 'creates no second value for a key that the replica does not have yet' do
      outdated('globals/other', document(1), document(2))
      writer.put(path, document('"theirs"'))
      expect(world.call('simpkv::exists', 'a/k')).to be(false)
      expect(world.call('simpkv::get_or_create', 'a/k', 'mine')).to eq('value' => 'theirs')
      expect(store.get(path)).to eq(document('"theirs"'))
    end

    it "compares the expected value with the supplier's" do
      outdated(path, document(1), document(2))
      expect(world.call('simpkv::get', 'a/k')).to eq('value' => 1)
      expect(world.call('simpkv::compare_and_put', 'a/k', 1, 'mine')).to be(false)
      world.fresh_catalog
      expect(world.call('simpkv::compare_and_put', 'a/k', 2, 'mine')).to be(true)
      expect(store.get(path)).to include('mine')
    end
  end

  it 'names the server and the option that are needed if no write_uri is set' do
    writer.put('globals/a/k', document(1))
    eventually { reader.get('globals/a/k') == document(1) }
    alone = open_store('ldap_uri' => replica.uri)
    writes = { put: ['globals/a/k', document(2)], delete: ['globals/a/k'], deletetree: ['globals/a'] }
    writes.each do |call, arguments|
      expect { alone.public_send(call, *arguments) }
        .to raise_error(Simpkv::UnavailableError, %r{#{replica.uri} refers to '#{slapd.tcp_uri}/.*'write_uri'})
    end
    expect(alone.put('globals/a/k', document(1))).to be(false)
    expect(store.get('globals/a/k')).to eq(document(1))
  end

  it 'uses the next server while a replica is down, names both if both are down, and reconnects to them' do
    both = open_on([replica.tcp_uri, slapd.tcp_uri])
    writer.put('globals/a/k', document(1))
    eventually { both.get('globals/a/k') == document(1) }
    replica.stop_serving
    expect(both.get('globals/a/k')).to eq(document(1))
    while_supplier_is_down do
      expect { 2.times { both.get('globals/a/k') } }
        .to raise_error(Simpkv::UnavailableError, including(replica.tcp_uri).and(including(slapd.tcp_uri)))
    end
    replica.launch
    before = replica.log.length
    eventually { both.get('globals/a/k') && replica.log[before..].include?('ou=instances') }
    expect(both.get('globals/a/k')).to eq(document(1))
  end

  # @param uris [Array<String>] of a pool. Those of other examples may have the same identity, and servers that are gone
  # @return [Boolean] whether the pool uses one of its servers no more for a while
  def quarantined?(uris)
    pools = Simpkv.stats['pools'].map { |pool| pool['servers'] }
    own = pools.select { |servers| servers.map { |server| server['uri'] } == uris }
    own.flatten.any? { |server| server['resting'] }
  end

  it 'fails no read while its servers go down in turns under many threads' do
    writer.put('globals/a/k', document(1))
    eventually { reader.get('globals/a/k') == document(1) }
    uris = [replica.tcp_uri, slapd.tcp_uri]
    many = open_on(uris, 'retries' => 5)
    ending = false
    reads = Array.new(4) { Hash.new(0) }
    threads = reads.map { |found| Thread.new { read_until(many, found) { ending } } }
    [replica, slapd, replica, slapd].each do |server|
      before = reads.map { |found| found.values.sum }
      eventually(within: 60) do
        reads.zip(before).all? { |found, sum| found.values.sum > sum + 25 } && !quarantined?(uris)
      end
      server.restart
      # Threads that lost the other server have connected to this one by now.
      eventually { open_on(server.tcp_uri).get('globals/a/k') }
    end
    ending = true
    threads.each(&:join)
    expect(reads.map(&:keys)).to all(eq([document(1)]))
  end
end
