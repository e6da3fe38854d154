# frozen_string_literal: true

require_relative '../puppet_helper'

# Tests rich data inside the adapter and the store, where spec/conformance/values_spec.rb has no access.
RSpec.describe 'Rich data, between the functions and the store' do
  let(:root) { Dir.mktmpdir('simpkv') }
  let(:backend) { { 'type' => 'file', 'id' => 'rich', 'root_path' => root } }
  let(:world) { PuppetWorld.new(hiera: { 'backends' => { 'default' => backend } }) }
  let(:secret) { Puppet::Pops::Types::PSensitiveType::Sensitive }
  let(:file) { File.join(root, 'environments/production/key') }

  after do
    world.close
    FileUtils.rm_rf(root)
  end

  def put(*arguments)
    world.call('simpkv::put', 'key', *arguments)
  end

  def outside(&block)
    Puppet.override({ loaders: nil }, 'outside of any compiler', &block)
  end

  it 'is not written again if it is unchanged' do
    put({ 'a' => secret.new('x') }, { 'm' => secret.new([1]) })
    before = File.stat(file)
    put({ 'a' => secret.new('x') }, { 'm' => secret.new([1]) })
    expect([File.stat(file).ino, File.stat(file).mtime]).to eq([before.ino, before.mtime])
    put({ 'a' => secret.new('y') }, { 'm' => secret.new([1]) })
    expect(File.stat(file).ino).not_to eq(before.ino)
  end

  # The second put failed: "Regexp does not come back as it is". Each read had added a group of flags.
  it 'stores a Regexp with characters beyond ASCII again after it was read, as the same document' do
    [/é/, /\u{1F600}|é/mi, [/é/i], { /é/ => /ü/x }, /(?-imx:é)/].each do |value|
      put(value, {}, { 'rich_data' => true })
      stored = File.binread(file)
      read = world.call('simpkv::get', 'key')['value']
      put(read, {}, { 'rich_data' => true })
      expect(File.binread(file)).to eq(stored)
    end
    put([/é/, /ü/], {}, { 'rich_data' => true })
    expect(world.call('simpkv::get', 'key')['value']).to eq([/é/, /ü/])
  end

  # They came back as Strings, and nobody was told.
  it 'is named by a warning, once for each type, where values become Strings without it' do
    world.compile(<<-PUPPET)
      simpkv::put('a', Timestamp('2020-01-01'))
      simpkv::put('b', ['x', { 'y' => Timestamp('2020-01-02'), /z/ => SemVer('1.2.3') }])
      simpkv::put('c', 'text', { 'at' => Timespan(3) })
      simpkv::put_many({ 'd' => { 'value' => URI('http://a') }, 'e' => { 'value' => SemVerRange('>1.0') } })
      simpkv::put('f', [Timestamp('2020-01-01'), SemVer('1.2.3')], {}, { 'rich_data' => true })
      simpkv::put('g', ['text', 1, Sensitive('x'), Binary('AAA=')])
    PUPPET
    warning = lambda do |call, type|
      "simpkv::#{call} stores a #{type} as text, which comes back as a String: to get a #{type} back, set " \
        "'rich_data' to true; to store text, convert it with String(...)"
    end
    expect(world.warnings)
      .to eq([warning["put with key='a'", 'Timestamp'], warning["put with key='b'", 'Regexp'],
              warning["put with key='b'", 'SemVer'], warning["put with key='c'", 'Timespan'],
              warning["put_many with keys='d', 'e'", 'URI'], warning["put_many with keys='d', 'e'", 'SemVerRange']])
    expect(File.read(File.join(root, 'environments/production/a')))
      .to eq('{"value":"2020-01-01T00:00:00.000000000 UTC","metadata":{}}')
  end

  it 'can be enabled in Hiera for all puts' do
    world.hiera = { 'backends' => { 'default' => backend }, 'rich_data' => true }
    put(/x/)
    expect(world.call('simpkv::get', 'key')['value']).to eq(/x/)
    expect(world.warnings).to eq([])
  end

  it 'leaves no value of a Sensitive in the log, whether it is stored, read or refused' do
    Puppet::Util::Log.level = :debug
    put(secret.new('hush'), { 'm' => secret.new('hush') }, { 'rich_data' => true })
    world.call('simpkv::get', 'key')
    expect { put(secret.new(['hush', Object.new]), {}, { 'rich_data' => true }) }.to raise_error(RuntimeError)
    expect(world.messages.join).to match(/simpkv: Simpkv::UnencodableError/)
    expect(world.messages.join).not_to include('hush')
  end

  it 'adds no members to the results of the adapter' do
    adapter = world.adapter
    document = adapter.serialize(secret.new('x'), { 'm' => 1 })
    expect(document).to eq('{"value":{"__ptype":"Sensitive","__pvalue":"x"},"encoding":"pcore","metadata":{"m":1}}')
    expect(adapter.deserialize(document)).to eq(value: secret.new('x'), metadata: { 'm' => 1 })
  end

  # Without a compiler, Puppet's own code would restore almost no type. It would also give Integer[1, 2] another class
  # from then on, in the whole process.
  it 'is the same outside of a compiler' do
    adapter = world.adapter
    value = [secret.new('x'), Puppet::Pops::Types::PBinaryType::Binary.new('y'.b), :default, /z/, URI('http://a/b'),
             SemanticPuppet::Version.parse('1.2.3'), SemanticPuppet::VersionRange.parse('>=1.0.0'),
             Puppet::Pops::Time::Timestamp.new(1_500_000_000), Puppet::Pops::Time::Timespan.new(10**9)]
    document = outside { adapter.serialize(value, {}, true) }
    outside { expect(adapter.deserialize(document)[:value]).to eq(value) }
    world.inside do
      expect(adapter.serialize(value, {}, true)).to eq(document)
      expect(adapter.deserialize(document)[:value]).to eq(value)
    end
  end
end
