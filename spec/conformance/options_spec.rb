# frozen_string_literal: true

require_relative 'conformance_helper'

Conformance.describe 'Options in Hiera', directories: { once: true } do
  # All of Hiera's data, beside what `site` says.
  def hiera_data(yaml)
    File.write(File.join(world.dir, 'data.yaml'), yaml)
    world.fresh_catalog
  end

  it 'may be aliases of other data, which stay as they are' do
    hiera_data({ 'simpkv::options' => "%{alias('site::options')}",
                 'site::options' => { 'backends' => "%{alias('site::backends')}", 'more' => [1] },
                 'site::backends' => { 'default' => entry } }.to_yaml)
    2.times { expect(put('a', 1, {}, { 'more' => [2], 'backends' => { 'x' => {} } })).to be(true) }
    expect(get('a')).to eq('value' => 1)
    expect(merged).to include('more' => [1], 'backends' => { 'default' => entry })
    data = world.call('lookup', 'site::options')
    expect(data).to eq('backends' => { 'default' => entry }, 'more' => [1])
  end

  it 'may share parts among each other, of which a call changes one only' do
    shared = { 'own' => ['site'] }
    world.hiera = site.merge('first' => shared, 'second' => shared)
    expect(File.read(File.join(world.dir, 'data.yaml'))).to match(/&1.*\*1/m)
    expect(merged('first' => { 'own' => ['call'] }))
      .to include('first' => { 'own' => %w[site call] }, 'second' => { 'own' => ['site'] })
    expect(merged).to include('first' => { 'own' => ['site'] })
  end

  it 'may have backends of which all but the selected one are incomplete or of unknown types' do
    world.hiera = { 'backends' => { 'default' => entry, 'empty' => {}, 'typeless' => { 'id' => 'i' },
                                    'idless' => { 'type' => 'file' }, 'strange' => { 'type' => 'no', 'id' => 'i' } } }
    expect(put('a', 1)).to be(true)
    expect(world.warnings).to eq([])
  end

  # It was a NoMethodError.
  it 'are an error that names a backend that is undef, selected or not (it was a NoMethodError)' do
    { 'other' => "simpkv backend 'other' is not a Hash",
      'default' => "No simpkv backend 'default' with 'id' and 'type' attributes has been configured: 'default' of " \
                   "'backends' must be a Hash with 'type' and 'id'" }
      .each do |name, message|
      world.hiera = { 'backends' => { 'default' => entry }.merge(name => nil) }
      world.fresh_catalog
      expect { get('a', { 'softfail' => true }) }.to raise_error(
        ArgumentError, "simpkv Configuration Error for simpkv::get with key='a': #{message}"
      )
    end
  end

  it 'are an error when backends is undef' do
    world.hiera = { 'backends' => nil }
    expect { get('a', { 'softfail' => true }) }.to raise_error(
      ArgumentError, /simpkv Configuration Error.*'backends' not specified in simpkv configuration/
    )
  end

  it 'choose no backend by app_id, whatever its value' do
    [5, ['app'], {}, 'app'].each do |app_id|
      world.hiera = { 'backends' => { 'default' => entry, 'app' => { 'type' => 'memory', 'id' => 'wrong' } },
                      'app_id' => app_id }
      expect(world.fresh_catalog.call('simpkv::exists', 'a')).to be(false)
      expect(world.adapter.plugin_instances.keys).to eq(["#{entry['type']}/conformance"])
    end
  end

  it "are merged with a call's backend of another type, and cause no warning about options of our other types" do
    replaced = entry.merge('type' => 'ldap', 'id' => 'x', 'tls_cacert' => '/no/such', 'lock_timeout_seconds' => 3)
    world.hiera = { 'backends' => { 'default' => replaced } }
    expect(put('a', 1, {}, { 'backends' => { 'default' => entry } })).to be(true)
    expect(world.warnings.grep(/tls_cacert|lock_timeout/)).to eq([])
  end
end

Conformance.describe 'Options of a call', directories: { once: true } do
  def deep_freeze(value)
    case value
    when Hash then value.each { |name, member| [name, member].each { |part| deep_freeze(part) } }
    when Array then value.each { |member| deep_freeze(member) }
    end
    value.freeze
  end

  # It was a NoMethodError.
  [5, 1.5, true, %w[a b], { 'a' => 'b' }].each do |app_id|
    it "are an error that names app_id when that is #{app_id.inspect} (it was a NoMethodError)" do
      expect { exists('a', { 'app_id' => app_id, 'softfail' => true }) }.to raise_error(
        ArgumentError, /\Asimpkv Configuration Error for simpkv::exists with key='a': 'app_id' in simpkv configuration/
      )
    end
  end

  it 'may be undef, which overrides nothing' do
    undef_backend = entry.transform_values { nil }
    options = { 'app_id' => nil, 'backend' => nil, 'softfail' => nil, 'global' => nil, 'environment' => nil,
                'backends' => { 'default' => undef_backend } }
    expect(put('a', 1, {}, options)).to be(true)
    expect(get('a')).to eq('value' => 1)
  end

  it 'are not changed by any function, and may be frozen at any depth, as may value and metadata' do
    options = { 'app_id' => 'app', 'list' => [1, { 'a' => ['b'] }], 'backends' => { 'default' => entry } }
    options = Marshal.load(Marshal.dump(options))
    before = Marshal.dump(options)
    deep_freeze(options)
    value = deep_freeze({ 'a' => [+'text', { 'b' => nil }] })
    metadata = deep_freeze({ 'm' => [1, { 'n' => +'é' }] })
    expect(put('f/a', value, metadata, options)).to be(true)
    expect(get('f/a', options)).to eq('value' => value, 'metadata' => metadata)
    expect(list('f', options)['keys'].keys).to eq(['a'])
    expect(exists('f/a', options)).to be(true)
    expect([delete('f/a', options), deletetree('f', options)]).to eq([true, true])
    expect(Marshal.dump(options)).to eq(before)
  end

  it 'leave those of Hiera unchanged for the next call' do
    world.hiera = site.merge('list' => [1], 'nested' => { 'deep' => { 'list' => ['a'] } })
    first = Marshal.dump(merged)
    put('a', 1, {}, { 'list' => [2], 'nested' => { 'deep' => { 'list' => ['b'], 'new' => 1 } },
                      'backends' => { 'default' => { 'own' => 1 }, 'x' => { 'type' => 'memory' } } })
    expect(Marshal.dump(merged)).to eq(first)
  end
end
