# frozen_string_literal: true

require_relative '../support/ldap_store'
require_relative '../support/scratch'

# When a deletion meets reads of the same entry, 389-DS can keep the entry half: its cache shows it, and its indexes do
# not (docs/adr/0054). `put` then answered true, and the next get was NotFound; `delete` failed each time.
RSpec.describe 'A half-deleted entry of 389-DS', :ds389, :heavy, needs: :fork do
  include_context 'with a directory', Ds389, limits: true

  key = 'globals/half/k'
  before_it = '{"value":"before"}'
  after_it = '{"value":"after"}'

  # Makes the entry of a key half-deleted, with a bare client's requests. That takes some hundred to some ten thousand
  # rounds; the server may end the state again while the processes go on.
  def half_delete(key, document)
    20.times do
      store.put(key, document)
      race(dn(key), 'objectClass' => %w[top simpkvEntry], 'simpkvKey' => [File.basename(key)],
                    'simpkvJsonValue' => [document])
      next directory.restart unless sound?(File.dirname(key))
      return if store.get(key, required: false) && !listed(key)
    end
    raise 'the server deletes all entries completely'
  end

  # @return [Boolean] whether the server deletes other entries of the folder: now and then, the race damages the folder
  #   as well, until the server starts again
  def sound?(folder)
    store.put("#{folder}/probe", '{"value":1}')
    store.delete("#{folder}/probe")
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
    requests = [-> { store.read_entry(entry_dn, %w[simpkvJsonValue]) }, -> { store.delete_entry(entry_dn) },
                -> { store.read_entry(entry_dn, %w[simpkvJsonValue]) }, -> { store.add_entry(entry_dn, entry) }]
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

  before do
    store.put('globals/half/other', before_it)
    half_delete(key, before_it)
  end

  it 'does not swallow a put' do
    expect(store.put(key, after_it)).to be(true)
    expect(store.get(key)).to eq(after_it)
    expect(listed(key)).to be(true)
  end

  it 'does not swallow a put of a batch' do
    expect(store.put_many({ key => after_it, 'globals/half/other' => after_it }).values).to all(be(true))
    expect(store.get(key)).to eq(after_it)
    expect(listed(key)).to be(true)
  end

  it 'makes the outcome of a conditional put unknown, and no more of a second one' do
    expect { store.put(key, after_it, condition: :expect, expect: before_it) }.to raise_error(
      Simpkv::UnavailableError, /the outcome is unknown: .* shows no such key after it/
    )
    expect { store.put(key, after_it, condition: :expect, expect: before_it) }.to raise_error(Simpkv::ConditionError)
    expect(store.put(key, after_it, condition: :absent)).to be(true)
    expect(listed(key)).to be(true)
  end

  # No search shows it, so that no deletetree can find it. The request of a bare client is refused.
  it 'outlives a deletetree of its folder, and is removed by a deletion, which says that there was no key' do
    store.deletetree('globals/half')
    expect(store.get(key)).to eq(before_it)
    entry = dn(key)
    expect { store.delete_entry(entry) }.to raise_error(
      Simpkv::UnavailableError, /answered 1 .*half-deleted entry, .*restart the server/
    )
    expect(store.delete(key)).to be(false)
    expect(store.exist?(key)).to be(false)
    expect(store.put(key, after_it, condition: :absent)).to be(true)
    expect(listed(key)).to be(true)
  end
end
