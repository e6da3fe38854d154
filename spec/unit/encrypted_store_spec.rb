# frozen_string_literal: true

require_relative '../support/encrypted_examples'
require_relative '../support/file_store'

RSpec.describe Simpkv::EncryptedStore do
  include FileStoreHelp

  let(:below) { store }
  let(:backend) { 'file/default' }

  it_behaves_like 'an encrypted store'

  context 'with files' do
    include KeyFile

    let(:encrypted) { described_class.new(store, keyring, backend) }

    it 'lists more than a page of documents, and names of any characters' do
      documents = (1..3000).to_h { |number| ["k#{number}", %({"value":"#{number}"})] }.merge('É é' => '{"value":0}')
      encrypted.put_many(documents.transform_keys { |name| "globals/many/#{name}" })
      expect(encrypted.list('globals/many')[:keys]).to eq(documents)
      expect(encrypted.tree('')[:keys]).to eq(documents.transform_keys { |name| "globals/many/#{name}" })
      expect(encrypted.list('/globals//many/')[:keys]).to eq(documents)
    end

    # MRI left out all pages but the first one, without an error.
    it 'fails if the keys cannot be read for a later page' do
      encrypted.put_many((1..1200).to_h { |number| ["globals/many/k#{number}", '{"value":1}'] })
      { list: 'globals/many', tree: 'globals' }.each do |operation, folder|
        File.chmod(0o600, key_file)
        hidden = ->(_, document) { document.tap { File.chmod(0o644, key_file) } }
        expect { encrypted.public_send(operation, folder, &hidden) }.to raise_error(Simpkv::DeniedError, /#{key_file}/)
      end
    end

    it 'decrypts the documents of chosen keys of a list' do
      %w[a b].each { |name| encrypted.put("globals/f/#{name}", %({"value":"#{name}"})) }
      expect(encrypted.list('globals/f', chosen: ->(names) { names[:keys].keys.max(1) })[:keys])
        .to eq('a' => '', 'b' => '{"value":"b"}')
      File.write(path('globals/f/b'), File.read(path('globals/f/a')))
      expect(encrypted.list('globals/f', chosen: ->(_) { %w[b] })).to match(keys: { 'a' => '' }, folders: [],
                                                                            errors: { 'b' => String })
    end

    it 'reads plain documents of names that are not UTF-8, and refuses to encrypt them' do
      File.binwrite(File.join(path('globals').tap { store }, "\xFF"), '{"value":1}')
      expect(encrypted.list('globals')[:keys].values).to eq(['{"value":1}'])
      expect { encrypted.put("globals/\xFE", '{"value":1}') }.to raise_error(Simpkv::InvalidError, /not UTF-8/)
      outcomes = encrypted.put_many({ "globals/\xFE" => '{"value":1}', 'globals/k' => '{"value":1}' })
      expect(outcomes.values.map(&:class)).to eq([Simpkv::InvalidError, TrueClass])
    end

    it 'takes the paths of one key for one, if the store does' do
      folded = described_class.new(store, keyring, backend, &:downcase)
      folded.put('environments/Dev/Key', '{"value":1}')
      folded.put('environments/Dev/key2', '{"value":2}')
      Dir.mkdir(path('environments/dev'))
      %w[Key key2].each { |name| FileUtils.cp(path("environments/Dev/#{name}"), path("environments/dev/#{name}")) }
      %w[environments/Dev environments/dev].each do |folder|
        expect(folded.get("#{folder}/Key")).to eq('{"value":1}')
        expect(folded.list(folder)[:keys]).to eq('Key' => '{"value":1}', 'key2' => '{"value":2}')
        expect(folded.list(folder) { |name, _| name }[:keys]).to eq('Key' => 'Key', 'key2' => 'key2')
        expect(encrypted.list(folder)[:errors].keys).to contain_exactly('Key', *('key2' if folder.end_with?('Dev')))
      end
    end

    # Each of these used to go on for as long as others did.
    it 'gives up if others keep changing the key' do
      allow(Simpkv::CompareAndSwap).to receive(:sleep)
      encrypted.put('globals/a', '{"value":1}')
      below = store
      allow(below).to receive(:put).and_raise(Simpkv::ConflictError, 'changed')
      allow(below).to receive(:delete).and_return(false)
      busy = described_class.new(below, keyring, backend)
      expect { busy.put('globals/a', '{"value":2}', condition: :expect, expect: '{"value":1}') }
        .to raise_error(Simpkv::ConflictError, "Key write to 'globals/a' failed: others keep changing it")
      expect { busy.renew('globals/a', decrypt: true) }.to raise_error(Simpkv::ConflictError, /others keep changing it/)
      expect { busy.delete('globals/a', expect: '{"value":1}') }
        .to raise_error(Simpkv::ConflictError, "Delete of 'globals/a' failed: others keep changing it")
    end

    it 'decrypts what the store below yields, returns, or both' do
      raws = { 'a' => keyring.encrypt(backend, 'globals/a', '{"value":1}'), 'b' => '{"value":2}' }
      below = Object.new
      below.define_singleton_method(:list) do |_folder, required:, partial:, &block|
        raws.each { |name, raw| block.call(name, raw) } if block && required && partial
        { keys: raws.dup, folders: [], errors: {} }
      end
      listed = described_class.new(below, keyring, backend).list('globals') { |name, document| [name, document] }
      expect(listed[:keys]).to eq('a' => ['a', '{"value":1}'], 'b' => ['b', '{"value":2}'])
    end

    it 'passes on errors of the block' do
      encrypted.put('globals/k', '{"value":1}')
      expect { encrypted.list('globals') { raise Simpkv::MalformedError, 'of the block' } }
        .to raise_error(Simpkv::MalformedError, 'of the block')
    end
  end
end
