# frozen_string_literal: true

require_relative '../spec_helper'
require 'simpkv'
require 'tmpdir'

RSpec.describe Simpkv::Error do
  it 'separates failures that a caller may retry from those that it may not' do
    retryable = %w[timeout unavailable full interrupted].map { |status| described_class.for(status) }
    expect(retryable).to all(be < Simpkv::TransientError)
    other = %w[not_found exists conflict is_folder is_key invalid denied too_large malformed no_memory]
    other.each { |status| expect(described_class.for(status)).not_to be <= Simpkv::TransientError }
  end

  it 'has a status for each class, and a class for each status' do
    expect(Simpkv::ConflictError.new('x').status).to eq(:conflict)
    expect(described_class.for(:not_found)).to be(Simpkv::NotFoundError)
    expect([described_class.status, Simpkv::TransientError.status, Simpkv::UnencodableError.status]).to eq([nil] * 3)
    expect(described_class.for('unheard_of')).to be(described_class)
  end

  it 'names the fault, whatever the text says, and keeps it in other words' do
    refused = begin
      Simpkv::Native::Keyring.new('/no/such/tls/certificate')
    rescue described_class => e
      e
    end
    expect([refused, refused.reworded('x')].map(&:fault)).to eq(%i[encryption_keys encryption_keys])
    expect(described_class.new('encryption_keys').fault).to be_nil
  end

  # Pages and remedies looked for the path in the text of the message before.
  describe '#key' do
    around do |example|
      Dir.mktmpdir do |folder|
        @store = Simpkv::Store.open('file', 'root_path' => folder)
        example.run
      ensure
        @store&.close
      end
    end

    def error
      yield
      raise 'no error'
    rescue described_class => e
      e
    end

    it 'is the path of the key or folder of the call' do
      calls = { get: [], kind: [], stat: [], put: ['{"value":1}'], delete: [], create_folder: [], delete_folder: [],
                deletetree: [], list: [], tree: [], watch: [] }
      calls.each do |name, arguments|
        raised = error { @store.public_send(name, 'globals/a/../b', *arguments) { nil } }
        expect([name, raised.class, raised.key]).to eq([name, Simpkv::InvalidError, 'globals/a/../b'])
      end
      expect(error { @store.get_decoded('globals', 'none', false) }.key).to eq('globals/none')
    end

    it 'is there for each key of a batch' do
      keys = %w[globals/a globals/b]
      expect(@store.get_many(keys).transform_values(&:key)).to eq(keys.zip(keys).to_h)
    end

    it 'is not the DN of an entry, nor a folder if the block of a list raises' do
      expect(error { @store.directory.read_entry('dc=simp', []) }.key).to be_nil
      @store.put('globals/a', '{"value":1}')
      expect(error { @store.list('globals') { raise described_class, 'mine' } }.key).to be_nil
    end

    it 'is there if other writers have been faster each time (it was lost)' do
      @store.put('globals/a', '{"value":1}')
      allow(Simpkv::CompareAndSwap).to receive(:sleep)
      raised = error do
        Simpkv::CompareAndSwap.repeat do
          Simpkv::CompareAndSwap.attempt { @store.put('globals/a', '{"value":2}', condition: :absent) }
        end
      end
      expect(raised).to have_attributes(class: Simpkv::ConflictError, key: 'globals/a')
    end

    it 'stays in other words (it was lost)' do
      reworded = error { @store.get('globals/none') }.reworded('mine')
      expect(reworded).to have_attributes(class: Simpkv::NotFoundError, key: 'globals/none', message: 'mine')
    end

    it 'stays that of the first caller, with the reason, and is always text' do
      unreadable = Simpkv::MalformedError.unreadable('globals/a', 'it is too old').about('globals')
      expect([unreadable.message, unreadable.key, unreadable.reason])
        .to eq(["'globals/a' cannot be read: it is too old", 'globals/a', 'it is too old'])
      expect(described_class.new('why').about("\xFF").about('')).to have_attributes(key: nil, reason: 'why')
      expect(described_class.new('why').about('ü'.b).key).to eq('ü')
    end
  end
end
