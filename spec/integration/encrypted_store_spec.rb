# frozen_string_literal: true

require_relative '../support/encrypted_examples'
require_relative '../support/ldap_store'

RSpec.describe Simpkv::EncryptedStore, 'in a directory' do
  include_context 'with a directory', Slapd, layout: 'plain', limits: true

  let(:below) { store }
  let(:backend) { "ldap/#{id}" }

  include KeyFile

  it_behaves_like 'an encrypted store'

  it 'stores a key beside a folder of the same name, as the directory does' do
    encrypted = described_class.new(store, keyring, backend)
    encrypted.put('globals/both/k', '{"value":1}')
    expect([encrypted.put('globals/both', '{"value":2}'), encrypted.get('globals/both')]).to eq([true, '{"value":2}'])
  end

  it 'leaves no value in the files of the server', :once do
    folder = Scratch.make('simpkv-keys')
    file = File.join(folder, 'keys')
    key = [Random.bytes(32)].pack('m0').tr('+/', '-_').delete('=')
    File.write(file, JSON.generate('keys' => [{ 'kty' => 'oct', 'kid' => 'a', 'k' => key }]), perm: 0o600)
    encrypted = described_class.new(store, Simpkv::Native::Keyring.new(file), backend)
    encrypted.put('globals/secret', '{"value":"pl4nted-in-a-directory"}')
    store.put('globals/public', '{"value":"pl4nted-and-seen"}')
    bytes = Dir["#{directory.folder}/**/*"].select { |name| File.file?(name) }.map { |name| File.binread(name) }
    expect(bytes.join).to include('pl4nted-and-seen')
    expect(bytes.join).not_to include('pl4nted-in-a-directory')
  ensure
    FileUtils.remove_entry(folder)
  end
end
