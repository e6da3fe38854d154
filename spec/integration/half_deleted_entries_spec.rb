# frozen_string_literal: true

require_relative '../puppet_helper'
require_relative '../support/ldap_store'
require_relative '../support/scratch'

# When a deletion meets reads of the same entry, 389-DS can keep the entry half: its cache shows it, and its indexes do
# not (docs/adr/0054). `put` then answered true, and the next get was NotFound; `delete` failed each time. Each example
# brings an entry into this state, which takes seconds, or minutes. test_ldap_confirm.c has the requests that follow.
RSpec.describe 'A half-deleted entry of 389-DS', :ds389, :heavy, :long, needs: :fork do
  include_context 'with a directory', Ds389, limits: true

  before_it = '{"value":"before"}'
  after_it = '{"value":"after"}'

  attr_reader :folder

  def key
    "#{folder}/k"
  end

  def other
    "#{folder}/other"
  end

  # Makes the entry of a key half-deleted, with a bare client's requests. That takes some hundred to some ten thousand
  # rounds; the server may end the state again while the processes go on. Now and then, the race damages the folder as
  # well: its numSubordinates is too low then, also after a restart, and the server refuses to delete its last keys. So
  # each attempt has a folder of its own.
  #
  # @param deletable [Array<String>] names of keys of the folder that the server must delete after that
  def half_delete(document, deletable: ['probe'])
    20.times do
      @folder = "globals/half#{LdapIds.next}"
      [key, other].each { |each| store.put(each, document) }
      race(dn(key), 'objectClass' => %w[top simpkvEntry], 'simpkvKey' => ['k'], 'simpkvJsonValue' => [document])
      return if half_deleted? && deletable.all? { |name| deletes?("#{folder}/#{name}", document) }
    end
    raise 'the server deletes all entries completely'
  end

  def half_deleted?
    store.get(key, required: false) && !listed(key)
  end

  # @return [Boolean] whether the server deletes a key
  def deletes?(key, document)
    store.put(key, document)
    store.delete(key)
  rescue Simpkv::UnavailableError
    false
  end

  # Three processes read, delete and add an entry, until the server cannot delete it.
  def race(entry_dn, entry)
    Scratch.make('simpkv-half') do |folder|
      children = Array.new(3) { fork { exit!(delete_and_add(entry_dn, entry, File.join(folder, 'over'))) } }
      expect(children.map { |pid| Process.wait2(pid).last.exitstatus }).to eq([0, 0, 0])
    end
  end

  # @param over [String] a file that the first process makes which cannot delete the entry
  # @return [Boolean] whether there is such a process
  def delete_and_add(entry_dn, entry, over)
    store = open_store
    entries = store.directory
    requests = [-> { entries.read_entry(entry_dn, %w[simpkvJsonValue]) }, -> { entries.delete_entry(entry_dn) },
                -> { entries.read_entry(entry_dn, %w[simpkvJsonValue]) }, -> { entries.add_entry(entry_dn, entry) }]
    requests.cycle(200_000) do |request|
      request.call
    rescue Simpkv::Error => e
      FileUtils.touch(over) if e.message.include?('answered 1 ')
      return true if File.exist?(over)
    end
    false
  end

  def listed(key)
    store.list(File.dirname(key))[:keys].key?(File.basename(key))
  end

  before { half_delete(before_it) }

  # What only the cache of the server shows is gone after a restart.
  def expect_stored(document)
    expect(listed(key)).to be(true)
    directory.restart
    expect(store.get(key)).to eq(document)
  end

  it 'does not swallow a put' do
    expect(store.put(key, after_it)).to be(true)
    expect(store.get(key)).to eq(after_it)
    expect(listed(key)).to be(true)
  end

  it 'does not swallow a put of a batch' do
    expect(store.put_many({ key => after_it, other => after_it }).values).to all(be(true))
    expect(store.get(key)).to eq(after_it)
    expect(listed(key)).to be(true)
  end

  # The answer was "unchanged".
  it 'does not swallow a put of the document that it shows' do
    expect(store.put(key, before_it)).to be(true)
    expect_stored(before_it)
  end

  it 'does not swallow a put of a batch of the document that it shows' do
    expect(store.put_many({ key => before_it, other => before_it }))
      .to eq(key => true, other => false)
    expect_stored(before_it)
  end

  # The answer was that it exists.
  it 'does not take the place of a put of a missing key' do
    expect(store.put(key, after_it, condition: :absent)).to be(true)
    expect_stored(after_it)
  end

  it 'does not take the place of a put of a batch of missing keys' do
    expect(store.put_many({ key => after_it }, condition: :absent)).to eq(key => true)
    expect_stored(after_it)
  end

  # The answer to the first was "unchanged", and to the second that the outcome is unknown.
  it 'meets no expectation' do
    [before_it, after_it].each do |document|
      expect { store.put(key, document, condition: :expect, expect: before_it) }
        .to raise_error(Simpkv::ConflictError, /there is no such key/)
    end
    expect(store.put(key, after_it, condition: :absent)).to be(true)
    expect(listed(key)).to be(true)
  end

  it 'is no key for callers that rely on it' do
    expect(store.get(key)).to eq(before_it)
    expect { store.get(key, stored: true) }.to raise_error(Simpkv::NotFoundError)
    expect(store.get(key, latest: true, required: false)).to be_nil
    expect(store.get(other, stored: true)).to eq(before_it)
  end

  # The answer was "unchanged".
  it 'does not swallow a put of a layer that reads the key first' do
    expect(Simpkv::VersionedStore.new(store, expires_after: 3600).put(key, before_it)).to be(true)
    expect(listed(key)).to be(true)
  end

  # The answer was its value. spec/functions/adapter_spec.rb has the call of the store, and test_ldap_confirm.c its
  # requests.
  it 'is no value for get_or_create' do
    options = { 'global' => true, 'backends' => { 'default' => directory.options('type' => 'ldap', 'id' => id) } }
    world = PuppetWorld.new
    entry = world.call('simpkv::get_or_create', key.delete_prefix('globals/'), 'created', {}, options)
    expect(entry).to eq('value' => 'created')
    expect_stored(store.get(key))
  ensure
    world&.close
  end

  # No search shows it, so that no deletetree can find it. The request of a bare client is refused.
  it 'outlives a deletetree of its folder, and is removed by a deletion, which says that there was no key' do
    half_delete(before_it, deletable: %w[probe other]) unless deletes?(other, before_it)
    store.put(other, before_it)
    store.deletetree(folder)
    expect(store.get(key)).to eq(before_it)
    entry = dn(key)
    expect { store.directory.delete_entry(entry) }.to raise_error(
      Simpkv::UnavailableError, /answered 1 .*half-deleted entry, .*restart the server/
    )
    expect(store.delete(key)).to be(false)
    expect(store.exist?(key)).to be(false)
    expect(store.put(key, after_it, condition: :absent)).to be(true)
    expect(listed(key)).to be(true)
  end
end
