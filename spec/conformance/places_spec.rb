# frozen_string_literal: true

require_relative 'conformance_helper'

Conformance.describe "The root folder '/' of an environment" do
  it 'does not exist before the first put' do
    expect(exists('/')).to be(false)
    expect { list('/') }.to raise_error(RuntimeError, %r{simpkv Error for simpkv::list with keydir='/'})
    expect(deletetree('/')).to be(true)
  end

  it 'exists after the first put' do
    put('a', 1)
    put('f/b', 2)
    expect(exists('/')).to be(true)
    expect(list('/')).to eq('keys' => { 'a' => { 'value' => 1 } }, 'folders' => ['f'])
  end

  it 'can be deleted with all keys of the environment, and of no other' do
    put('a', 1)
    put('g', 1, {}, { 'global' => true })
    in_environment('dev') { |dev| dev.call('simpkv::put', 'a', 2) }
    expect(deletetree('/')).to be(true)
    expect(exists('a')).to be(false)
    expect(get('g', { 'global' => true })['value']).to eq(1)
    in_environment('dev') { |dev| expect(dev.call('simpkv::get', 'a')['value']).to eq(2) }
  end

  it 'is not a key, neither before the first put nor after it' do
    2.times do
      [{}, { 'global' => true }].each do |options|
        expect { put('/', 'v', {}, options) }.to raise_error(RuntimeError, /Key specifies a folder/)
        expect { get('/', options) }.to raise_error(RuntimeError, %r{simpkv Error for simpkv::get with key='/'})
        expect { delete('/', options) }.to raise_error(RuntimeError, %r{simpkv Error for simpkv::delete with key='/'})
      end
      put('a', 1)
    end
    expect(get('a')['value']).to eq(1)
  end
end

Conformance.describe 'Global keys' do
  let(:global) { { 'global' => true } }

  it 'have a root that exists and is empty from the start' do
    expect(list('/', global)).to eq('keys' => {}, 'folders' => [])
    expect(exists('/', global)).to be(true)
  end

  it 'have a root that remains after all of them are deleted' do
    put('g/one', 'v', {}, global)
    put('local', 'v')
    expect(deletetree('/', global)).to be(true)
    expect([exists('/', global), list('/', global)]).to eq([true, { 'keys' => {}, 'folders' => [] }])
    expect(get('local')['value']).to eq('v')
  end

  it 'are the same from every environment' do
    put('g/one', 'v', {}, global)
    in_environment('dev') { |dev| expect(dev.call('simpkv::get', 'g/one', global)['value']).to eq('v') }
  end

  it 'are separate from the keys of the environment' do
    put('same', 'global', {}, global)
    put('same', 'local')
    expect(get('same', global)['value']).to eq('global')
    expect(get('same')['value']).to eq('local')
    delete('same', global)
    expect(exists('same')).to be(true)
    expect(list('/')['folders']).to eq([])
  end

  it 'can be configured in Hiera' do
    put('g/hiera', 'v', {}, global)
    world.hiera = site.merge(global)
    world.fresh_catalog
    expect(get('g/hiera')['value']).to eq('v')
  end
end

Conformance.describe 'Environments' do
  it 'have keys of their own' do
    put('secret', 'production')
    in_environment('dev') do |dev|
      expect(dev.call('simpkv::exists', 'secret')).to be(false)
      dev.call('simpkv::put', 'secret', 'dev')
    end
    expect(get('secret')['value']).to eq('production')
  end

  it 'cannot be left with dots in a key (get read another environment, deletetree of .. deleted all of them)' do
    put('secret', 'production')
    in_environment('dev') do |dev|
      ['../production/secret', 'a/../../production/secret', './../production/secret'].each do |key|
        expect do
          dev.call('simpkv::get', key)
        end.to raise_error(ArgumentError, %r{disallowed '/\./' or '/\.\./' sequence})
      end
      ['..', 'a/..', '../production', '/..'].each do |dir|
        expect do
          dev.call('simpkv::deletetree', dir)
        end.to raise_error(ArgumentError, %r{disallowed '/\./' or '/\.\./' sequence})
      end
    end
    expect(get('secret')['value']).to eq('production')
  end

  it "cannot be chosen by a call: the environment is always the compiler's" do
    put('secret', 'production')
    in_environment('dev') do |dev|
      ['production', '', '../production', nil].each do |name|
        expect(dev.call('simpkv::exists', 'secret', { 'environment' => name })).to be(false)
      end
    end
  end

  it 'cannot be left through the adapter either' do
    put('secret', 'production')
    ['..', '.', '../production', 'dev/../production', 'production/x', '/'].each do |name|
      options = merged.merge('environment' => name)
      expect(world.adapter.get('secret', options)).to include(result: nil, err_msg: /\S/)
      expect(world.adapter.deletetree('/', options)).to include(result: false, err_msg: /\S/)
      expect(world.adapter.put('k', 'v', {}, options)).to include(result: false, err_msg: /\S/)
    end
    expect(world.adapter.get('../../globals/x', merged)).to include(result: nil, err_msg: /\S/)
    expect(list('/')).to eq('keys' => { 'secret' => { 'value' => 'production' } }, 'folders' => [])
  end

  it "are listed by the adapter for the environment ''" do
    put('a', 1)
    in_environment('dev') { |dev| dev.call('simpkv::put', 'a', 1) }
    expect(world.adapter.list('/', merged.merge('environment' => ''))).to eq(
      result: { keys: {}, folders: %w[dev production] }, err_msg: nil
    )
  end
end

Conformance.describe 'Choosing a backend' do
  let(:other) do
    entry.merge('id' => 'other').merge(entry.key?('root_path') ? { 'root_path' => "#{entry['root_path']}2" } : {})
  end
  let(:third) do
    entry.merge('id' => 'third').merge(entry.key?('root_path') ? { 'root_path' => "#{entry['root_path']}3" } : {})
  end
  let(:site) { { 'backends' => { 'default' => entry, 'app' => other, 'app.long' => third } } }

  def places
    %w[default app app.long].select { |name| exists('where', { 'backend' => name }) }
  end

  {
    'default without backend and app_id' => [{}, 'default'],
    'the one that backend names' => [{ 'backend' => 'app' }, 'app'],
    'the one that backend names, whatever app_id says' => [{ 'backend' => 'app', 'app_id' => 'app.long' }, 'app'],
    'the one of the very name of app_id' => [{ 'app_id' => 'app' }, 'app'],
    'the one with the longest name that app_id begins with' => [{ 'app_id' => 'app.longer' }, 'app.long'],
    'a shorter one where the longer does not fit' => [{ 'app_id' => 'app.lo' }, 'app'],
    'default for an app_id that begins with no name' => [{ 'app_id' => 'ap' }, 'default']
  }.each do |description, (options, expected)|
    it "uses #{description}" do
      put('where', 1, {}, options)
      expect(places).to eq([expected])
    end
  end

  it "prefers Hiera's backend to the app_id of the call" do
    world.hiera = site.merge('backend' => 'app')
    put('where', 1, {}, { 'app_id' => 'app.long' })
    expect(places).to eq(['app'])
  end

  # There was no warning.
  it 'warns once for each catalog if it ignores an app_id that would choose another backend' do
    world.hiera = site.merge('backend' => 'app')
    2.times { put('where', 1, {}, { 'app_id' => 'app.long' }) }
    get('where', { 'app_id' => 'app.long.er' })
    warning = "simpkv ignores an 'app_id' that chooses backend 'app.long': 'backend' is 'app', in simpkv::options or " \
              "in the call, and wins. Remove 'backend' there, or set it to 'app.long' in the call"
    expect(world.warnings).to eq([warning])
    get('where', { 'app_id' => 'app' })
    get('where', { 'backend' => 'app' })
    expect(world.warnings).to eq([warning])
    world.fresh_catalog
    get('where', { 'app_id' => 'app.long' })
    expect(world.warnings).to eq([warning] * 2)
  end

  it 'keeps ids apart' do
    put('where', 'first')
    put('where', 'second', {}, { 'backend' => 'app' })
    expect(get('where')['value']).to eq('first')
  end
end

Conformance.describe 'Capital letters in keys' do
  it 'are accepted by a case-sensitive backend only' do
    sensitive = { 'backends' => { 'default' => { 'case_sensitive' => true } } }
    if trait?(:ignores_case)
      expect { put('Mixed/Case', 1, {}, sensitive) }.to raise_error(
        ArgumentError, /simpkv Configuration Error.*'case_sensitive' of simpkv backend 'default' needs 'layout' hex/
      )
      next
    end

    put('Mixed/Case', 1, {}, sensitive)
    put('mixed/case', 2, {}, sensitive)
    expect(get('Mixed/Case', sensitive)['value']).to eq(1)
    expect { get('Mixed/Case') }.to raise_error(
      ArgumentError, %r{key 'Mixed/Case' contains unsupported characters.  Allowed set=\[a-z0-9._:-/\]}
    )
  end
end
