# frozen_string_literal: true

require 'json'
require_relative '../support/clock'
require_relative '../support/file_store'
require_relative '../support/key_file'

RSpec.describe Simpkv::VersionedStore do
  include Clock
  include FileStoreHelp
  include KeyFile

  before { clock_at('2026-11-23T15:00:00Z') }

  let(:key) { 'globals/app/key' }
  let(:below) { store }

  def document(value, metadata = {})
    Simpkv::Codec.encode(value, metadata)
  end

  def versioned(**options)
    described_class.new(below, **options)
  end

  # @return [Array] the value of a key and those of its history
  def values(key)
    members = JSON.parse(below.get(key))
    [members['value'], *members.fetch('history', []).map { |version| version['value'] }]
  end

  # Lets another client write between the read of a put and its write, once.
  def interrupted_once(store, &write)
    done = false
    allow(store).to receive(:put).and_wrap_original do |put, *arguments, **options|
      unless done
        done = true
        write.call
      end
      put.call(*arguments, **options)
    end
  end

  shared_examples 'a versioned store' do
    it 'keeps replaced values, and writes nothing for an equal one' do
      keeping = versioned(history: 2)
      expect([1, 2, 2, 3, 4].map { |value| keeping.put(key, document(value)) }).to eq([true, true, false, true, true])
      expect(values(key)).to eq([4, 3, 2])
      expect(keeping.get(key)).to eq(below.get(key))
    end

    it 'renews the expiry' do
      expiring = versioned(expires_after: 100)
      expect(expiring.put(key, document(1))).to be(true)
      clock_at('2026-11-23T15:00:50Z')
      expect(expiring.put(key, document(1))).to be(false)
      clock_at('2026-11-23T15:00:51Z')
      expect(expiring.put(key, document(1))).to be(true)
      expect(JSON.parse(below.get(key))).to eq('value' => 1, 'metadata' => {}, 'stored_at' => '2026-11-23T15:00:00Z',
                                               'expires' => '2026-11-23T15:02:31Z')
    end

    it 'loses no value that another client stores during a put' do
      keeping = versioned(history: 5)
      keeping.put(key, document(1))
      interrupted_once(below) { versioned(history: 5).put(key, document('other')) }
      expect(keeping.put(key, document(2))).to be(true)
      expect(values(key)).to eq([2, 'other', 1])
    end

    it 'stores a missing key that another client creates during a put' do
      interrupted_once(below) { below.put(key, document('other')) }
      expect(versioned(history: 5).put(key, document(1))).to be(true)
      expect(values(key)).to eq([1, 'other'])
    end

    it 'gives up if others keep changing the key' do
      number = 0
      allow(below).to receive(:get).and_wrap_original do |get, *arguments, **options|
        get.call(*arguments, **options).tap { below.put(key, document(number += 1)) }
      end
      expect { versioned(history: 5).put(key, document('never')) }
        .to raise_error(Simpkv::ConflictError, /keep changing it/)
    end

    it 'takes an expired key for a missing one, and keeps its value' do
      expiring = versioned(expires_after: 100)
      expect(expiring.put(key, document(1), condition: :absent)).to be(true)
      expect { expiring.put(key, document(2), condition: :absent) }.to raise_error(Simpkv::ExistsError)
      clock_at('2026-11-23T15:02:40Z')
      expect(expiring.put(key, document(2), condition: :absent, non_unique: true)).to be(true)
      expect(values(key)).to eq([2, 1])
      clock_at('2026-11-23T16:00:00Z')
      expect(versioned(history: 0).put(key, document(3), condition: :absent)).to be(true)
      expect(values(key)).to eq([3, 2])
      expect { versioned.put(key, document(4), condition: :absent) }.to raise_error(Simpkv::ExistsError)
    end

    it 'replaces an expired value once' do
      versioned(expires_after: 100).put(key, document(1))
      clock_at('2026-11-23T16:00:00Z')
      others = [:other]
      allow(below).to receive(:get).and_wrap_original do |get, *arguments, **options|
        get.call(*arguments, **options).tap do
          versioned(expires_after: 100).put(key, document('other'), condition: :absent) if others.pop
        end
      end
      expect { versioned(expires_after: 100).put(key, document(2), condition: :absent) }
        .to raise_error(Simpkv::ExistsError)
      expect(values(key)).to eq(['other', 1])
    end

    it 'replaces the expected document, with its history' do
      keeping = versioned(history: 5)
      [1, 2].each { |value| keeping.put(key, document(value)) }
      stored = keeping.get(key)
      expect(keeping.put(key, document(2), condition: :expect, expect: stored)).to be(false)
      expect(keeping.put(key, document(3), condition: :expect, expect: stored)).to be(true)
      expect(values(key)).to eq([3, 2, 1])
      expect { keeping.put(key, document(4), condition: :expect, expect: stored) }
        .to raise_error(Simpkv::ConflictError)
    end

    it 'replaces a document that cannot be read' do
      store.put(key, '{"encoding":"jwf"}')
      expect(versioned(history: 5).put(key, document(1))).to be(true)
      expect(values(key)).to eq([1])
    end

    it 'stores nothing in place of a folder' do
      store.put("#{key}/below", document(1))
      expect { versioned(history: 5).put(key, document(1)) }.to raise_error(Simpkv::IsFolderError)
    end

    it 'stores many keys, each with its history' do
      keeping = versioned(history: 5)
      store.put('globals/folder/below', document(1))
      below.put('globals/same', document('same'))
      below.put('globals/old', document('old'))
      documents = %w[same old new folder].to_h { |name| ["globals/#{name}", document(name == 'same' ? 'same' : 'new')] }
      outcomes = keeping.put_many(documents)
      expect(outcomes.values.map { |outcome| outcome.is_a?(Simpkv::Error) ? outcome.class : outcome })
        .to eq([false, true, true, Simpkv::IsFolderError])
      expect(%w[same old new].map { |name| values("globals/#{name}") }).to eq([['same'], %w[new old], ['new']])
      expect(keeping.put_many({})).to eq({})
    end

    it 'asks again for keys that others change while it stores many' do
      keeping = versioned(history: 5)
      below.put('globals/a', document(1))
      allow(below).to receive(:get_many).and_wrap_original do |get_many, keys|
        get_many.call(keys).tap { %w[a b].each { |name| below.put("globals/#{name}", document('other')) } }
      end
      expect(keeping.put_many({ 'globals/a' => document(2), 'globals/b' => document('other') }))
        .to eq('globals/a' => true, 'globals/b' => false)
      expect([values('globals/a'), values('globals/b')]).to eq([[2, 'other'], ['other']])
    end

    it 'stores many keys under conditions' do
      expiring = versioned(expires_after: 100)
      expiring.put('globals/expired', document(1))
      clock_at('2026-11-23T16:00:00Z')
      expiring.put('globals/live', document(1))
      documents = %w[expired live new].to_h { |name| ["globals/#{name}", document(2)] }
      outcomes = expiring.put_many(documents, condition: :absent)
      expect(outcomes.values).to match([true, an_instance_of(Simpkv::ExistsError), true])
      expect(values('globals/expired')).to eq([2, 1])
      expected = outcomes.keys.to_h { |each| [each, expiring.get(each)] }.merge('globals/x' => nil)
      documents = expected.to_h { |each, _| [each, document(2)] }
      expect(versioned(history: 3, expires_after: 100).put_many(documents, condition: :expect, expect: expected).values)
        .to eq([false, true, false, true])
      expect(values('globals/live')).to eq([2, 1])
    end
  end

  it_behaves_like 'a versioned store'

  context 'with encryption' do
    let(:below) { Simpkv::EncryptedStore.new(store, keyring, 'file/default') }

    it_behaves_like 'a versioned store'

    it 'encrypts the history' do
      [1, 2].each { |value| versioned(history: 5).put(key, document("secret#{value}")) }
      expect(store.get(key)).to start_with('{"encoding":"jwe"').or(include('"jwe"'))
      expect(store.get(key)).not_to match(/secret|history|stored_at/)
    end

    it 'encrypts a document whose history holds a Sensitive' do
      encrypted = Simpkv::EncryptedStore.new(store, keyring, 'file/default', mode: :sensitive)
      keeping = described_class.new(encrypted, history: 5)
      keeping.put(key, Simpkv::Codec.encode({ '__ptype' => 'Sensitive', '__pvalue' => 'hidden' }, {}, 'pcore'))
      keeping.put(key, document('plain'))
      expect(encrypted.state(store.get(key))).to eq('a')
      expect(JSON.parse(encrypted.get(key))['history'].length).to eq(1)
    end
  end

  it 'keeps the values of many processes that put one key', needs: :fork do
    below
    pids = (1..4).map do |process|
      fork { 25.times { |number| versioned(history: 100).put(key, document("#{process}-#{number}")) } && exit!(0) }
    end
    expect(pids.map { |pid| Process.wait2(pid).last.success? }).to all(be(true))
    expect(values(key).sort).to eq((1..4).to_a.product((0..24).to_a).map { |each| each.join('-') }.sort)
  end

  it 'shows no value' do
    versioned(history: 3).put(key, document('secret'))
    expect(versioned(history: 3, expires_after: 5).inspect).to match(/history=3 expires_after=5 #<Simpkv::Store/)
  end
end
