# frozen_string_literal: true

require_relative '../puppet_helper'
require_relative '../support/key_file'

RSpec.describe 'Encrypted backends' do
  include KeyFile

  let(:root) { File.join(key_folder, 'root') }
  let(:options) { {} }
  let(:encryption) { { 'encryption_keys' => write_keys('a') }.merge(options) }
  let(:file) { { 'type' => 'file', 'id' => 'site', 'root_path' => root } }
  let(:memory) { { 'type' => 'memory', 'id' => 'site' } }
  let(:backends) { { 'default' => file.merge(encryption), 'memory' => memory.merge(encryption) } }
  let!(:world) { PuppetWorld.new(hiera: { 'backends' => backends }) }
  let(:secret) { Puppet::Pops::Types::PSensitiveType::Sensitive }

  after do
    world.close
    MemoryStore.clear
  end

  def call(function, *arguments)
    world.call("simpkv::#{function}", *arguments)
  end

  # @return [String] the document as the backend keeps it
  def raw(key, backend = 'default')
    path = "environments/production/#{key}"
    backend == 'memory' ? MemoryStore.entries('memory/site')[path] : File.binread(File.join(root, path))
  end

  encrypted = /\A\{"value":"eyJ[\w.-]+","encoding":"jwe"\}\z/

  %w[default memory].each do |backend|
    it "keep no value, and return it, whatever function stores it (backend #{backend})" do
      on = { 'backend' => backend }
      call('put', 'a', 'pl4nted', { 'm' => 1 }, on)
      call('put_many', { 'b' => { 'value' => 'pl4nted' } }, on)
      call('get_or_create', 'c', 'pl4nted', {}, on)
      expect(call('compare_and_put', 'c', 'pl4nted', 'pl4nted too', {}, on)).to be(true)
      expect(%w[a b c].map { |key| raw(key, backend) }).to all(match(encrypted))
      expect(call('get', 'a', on)).to eq('value' => 'pl4nted', 'metadata' => { 'm' => 1 })
      expect(call('get_many', %w[a b c none], on)['keys'].transform_values { |entry| entry['value'] })
        .to eq('a' => 'pl4nted', 'b' => 'pl4nted', 'c' => 'pl4nted too')
      expect(call('list', '/', on)['keys'].transform_values { |entry| entry['value'] })
        .to eq('a' => 'pl4nted', 'b' => 'pl4nted', 'c' => 'pl4nted too')
      expect(call('tree', '/', on)['keys'].keys).to match_array(%w[a b c])
    end

    it "write nothing for an equal value, and read plain documents (backend #{backend})" do
      on = { 'backend' => backend }
      call('put', 'a', 'x', {}, on)
      before = raw('a', backend)
      call('put', 'a', 'x', {}, on)
      expect(raw('a', backend)).to eq(before)
      world.adapter.plugin_instance(world.call('simpkv::support::config::merge', on, %w[file memory]))
           .put('environments/production/plain', '{"value":"p"}')
      expect(call('get', 'plain', on)['value']).to eq('p')
      expect(call('list', '/', on)['keys'].keys).to match_array(%w[a plain])
    end
  end

  it 'fail with the name of the option if the file of keys cannot be used' do
    File.chmod(0o644, key_file)
    %w[default memory].each do |backend|
      expect { call('get', 'a', { 'backend' => backend }) }
        .to raise_error(RuntimeError, /Unable to construct '.*the file of 'encryption_keys', .* has the mode 0644/)
    end
    expect(call('get', 'a', { 'softfail' => true })).to be_nil
  end

  it 'read the file of keys again when it changes, in the same catalog' do
    call('put', 'a', 'x')
    write_keys('b', 'a')
    call('put', 'b', 'x')
    write_keys('b')
    expect(call('get', 'b')['value']).to eq('x')
    expect { call('get', 'a') }.to raise_error(RuntimeError, /encrypted with the key 'a', which is not in/)
    expect(call('get_many', %w[a b], { 'errors' => 'return' })['errors'].keys).to eq(['a'])
  end

  it 'refuse to change the encryption within a catalog (it would store plain documents)' do
    call('put', 'a', 'x')
    [{ 'encryption_keys' => '/other' }, { 'encrypt' => 'none' }, { 'encrypted_only' => true }].each do |change|
      expect { call('put', 'a', 'y', {}, { 'softfail' => true, 'backends' => { 'default' => change } }) }
        .to raise_error(ArgumentError, /different backend configs for type=file id=site: .*#{change.keys.first}/)
    end
    expect(raw('a')).to match(encrypted)
  end

  it 'say which option is missing to read an encrypted document' do
    call('put', 'a', 'x')
    world.hiera = { 'backends' => { 'default' => file } }
    world.fresh_catalog
    expect { call('get', 'a') }.to raise_error(RuntimeError, /it is encrypted.*'encryption_keys'/)
  end

  # A compiler without the option stored plain documents in place of encrypted ones.
  %w[default memory].each do |backend|
    it "keep an encrypted document that a process without the keys would replace (backend #{backend})" do
      on = { 'backend' => backend }
      call('put', 'a', 'x', {}, on)
      before = raw('a', backend)
      world.hiera = { 'backends' => { 'default' => file, 'memory' => memory } }
      world.fresh_catalog
      refused = [RuntimeError, /a' failed: it is encrypted: set 'encryption_keys' of the backend/]
      expect { call('put', 'a', 'pl4nted', {}, on) }.to raise_error(*refused)
      expect { call('put', 'a', 'pl4nted', {}, on.merge('history' => 1)) }.to raise_error(*refused)
      result = call('put_many', { 'a' => { 'value' => 1 }, 'b' => { 'value' => 2 } }, on.merge('errors' => 'return'))
      expect(result).to match('stored' => ['b'], 'errors' => { 'a' => refused.last })
      expect(raw('a', backend)).to eq(before)
    end
  end

  context 'with encrypted_only' do
    let(:options) { { 'encrypted_only' => true } }

    it 'refuse plain documents' do
      call('put', 'a', 'x')
      File.write(File.join(root, 'environments/production/b'), '{"value":"forged"}')
      expect(call('get', 'a')['value']).to eq('x')
      expect { call('get', 'b') }.to raise_error(RuntimeError, /is not encrypted, which 'encrypted_only' requires/)
    end
  end

  context 'with encrypt: sensitive' do
    let(:options) { { 'encrypt' => 'sensitive' } }

    def deep(value)
      (1..40).reduce(value) { |inner, number| number.even? ? [inner] : { 'k' => inner } }
    end

    it 'encrypt each document with a Sensitive, wherever it is, whatever function stores it' do
      hush = secret.new('pl4nted')
      values = [hush, { 'a' => [hush] }, deep(hush), secret.new(hush), secret.new({ 'x' => 1 }), { hush => 1 },
                secret.new("pl4nted\xFF".b), [hush, Puppet::Pops::Time::Timestamp.now, "\u2028\u0001"]]
      values.product([{}, { 'rich_data' => true }]).each_with_index do |(value, more), index|
        call('put', "put#{index}", value, {}, more)
        call('put_many', { "many#{index}" => { 'value' => value } }, more)
        call('get_or_create', "new#{index}", value, {}, more)
        call('put', "meta#{index}", 1, { 'm' => value }, more)
        call('put', "cas#{index}", 1)
        call('compare_and_put', "cas#{index}", 1, value, {}, more)
      end
      keys = call('tree', '/', { 'values' => false })['keys'].keys
      expect(keys.length).to eq(values.length * 2 * 5)
      expect(keys.map { |key| raw(key) }).to all(match(encrypted))
    end

    it 'leave other documents plain' do
      ['text', 'Sensitive', [1], { 'a' => nil }, Puppet::Pops::Types::PBinaryType::Binary.new("\xFF".b)].each do |value|
        call('put', 'a', value)
        expect(raw('a')).not_to match(encrypted)
      end
      call('put', 'a', secret.new('x'))
      expect(raw('a')).to match(encrypted)
    end
  end

  context 'with encrypt: none' do
    let(:options) { { 'encrypt' => 'none' } }

    it 'store plain documents, and read encrypted ones' do
      call('put', 'b', 'plain')
      path = 'environments/production/a'
      File.write(File.join(root, path), Simpkv::Layers.keyring(key_file).encrypt('file/site', path, '{"value":1}'))
      expect([call('get', 'a')['value'], raw('b')]).to eq([1, '{"value":"plain","metadata":{}}'])
      call('put', 'a', 2)
      expect(raw('a')).not_to match(encrypted)
    end
  end
end
