# frozen_string_literal: true

require_relative 'conformance_helper'

Conformance.describe 'A failing backend', directories: Conformance::ON_JRUBY do
  let(:soft) { { 'softfail' => true } }

  {
    'get' => [nil, ['f/d'], "simpkv Error for simpkv::get with key='f/d'"],
    'delete' => [false, ['f/d'], "simpkv Error for simpkv::delete with key='f/d'"],
    'put' => [false, ['/', 'v', {}], "simpkv Error for simpkv::put with key='/'"]
  }.each do |function, (softened, arguments, message)|
    it "makes #{function} fail, or warn with the same words and return #{softened.inspect} under softfail" do
      put('f/d/key', 1)
      expect do
        public_send(function, *arguments)
      end.to raise_error(RuntimeError, /\A#{Regexp.escape(message)}/) { |error|
               expect(error.message).to match(%r{simpkv \S+/conformance Error: |Key specifies a folder})
               expect(public_send(function, *arguments, soft)).to be(softened)
               expect(world.warnings).to eq([error.message])
             }
    end
  end

  {
    'list' => [nil, "simpkv Error for simpkv::list with keydir='f/key'"],
    'deletetree' => [false, "simpkv Error for simpkv::deletetree with keydir='f/key'"]
  }.each do |function, (softened, message)|
    it "makes #{function} fail, or warn with the same words and return #{softened.inspect} under softfail" do
      put('f/key', 1)
      expect { public_send(function, 'f/key') }.to raise_error(RuntimeError, /\A#{Regexp.escape(message)}/) { |error|
        expect(error.message.scan(%r{simpkv \S+/conformance Error: }).size).to eq(1)
        expect(public_send(function, 'f/key', soft)).to be(softened)
        expect(world.warnings).to eq([error.message])
      }
    end
  end

  it 'is softened by Hiera as well, unless the call overrides it' do
    world.hiera = site.merge(soft)
    expect(get('missing')).to be_nil
    expect { get('missing', { 'softfail' => false }) }.to raise_error(RuntimeError, /Key not found/)
  end

  it 'does not stop later calls' do
    expect(get('missing', soft)).to be_nil
    expect(put('there', 1)).to be(true)
    expect(get('there', soft)).to eq('value' => 1)
  end
end

Conformance.describe 'A wrong configuration' do
  {
    "a 'backend' that is not there" =>
      [{ 'backend' => 'other' }, "No simpkv backend 'other' with 'id' and 'type' attributes has been configured"],
    'a backend without id' =>
      [{ 'backend' => 'x', 'backends' => { 'x' => { 'type' => 'file' } } },
       "No simpkv backend 'x' with 'id' and 'type' attributes has been configured"],
    'a backend without type' =>
      [{ 'backend' => 'x', 'backends' => { 'x' => { 'id' => 'file' } } },
       "No simpkv backend 'x' with 'id' and 'type' attributes has been configured"],
    'a type without plugin' =>
      [{ 'backend' => 'x', 'backends' => { 'x' => { 'type' => 'nosuch', 'id' => 'i' } } },
       "simpkv backend plugin 'nosuch' not available"],
    "'backends' that are no Hash" => [{ 'backends' => 'x' }, "'backends' in simpkv configuration is not a Hash"],
    'two backends of one type and id that differ' =>
      [{ 'backends' => { 'x' => { 'type' => 't', 'id' => 'i' }, 'y' => { 'type' => 't', 'id' => 'i', 'o' => 2 } } },
       'contains different backend configs for type=t id=i'],
    'an unselected backend that is a String' => [{ 'backends' => { 'x' => 'y' } }, "simpkv backend 'x' is not a Hash"],
    "a selected backend that is a String (it was 'is not a Hash')" =>
      [{ 'backend' => 'x', 'backends' => { 'x' => 'y' } },
       "No simpkv backend 'x' with 'id' and 'type' attributes has been configured"],
    'a backend name that is an Integer' => [{ 'backend' => 5 }, "'backend' in simpkv configuration"],
    'a type that is an Integer' =>
      [{ 'backend' => 'x', 'backends' => { 'x' => { 'type' => 5, 'id' => 'i' } } }, "'type' of simpkv backend 'x'"],
    'a softfail that is neither true nor false' => [{ 'softfail' => 'maybe' }, "'softfail' in simpkv configuration"]
  }.each do |description, (options, message)|
    it "is an error, never softened: #{description}" do
      options = { 'softfail' => true }.merge(options)
      expect { get('k', options) }.to raise_error(
        ArgumentError, /\Asimpkv Configuration Error for simpkv::get with key='k': .*#{Regexp.escape(message)}/
      )
      expect { list('k', options) }.to raise_error(
        ArgumentError, /\Asimpkv Configuration Error for simpkv::list with keydir='k': .*#{Regexp.escape(message)}/
      )
    end
  end

  it 'does not show the options' do
    backends = { 'x' => { 'type' => 't', 'id' => 'i', 'pw' => 'hush1' },
                 'y' => { 'type' => 't', 'id' => 'i', 'pw' => 'hush2' } }
    expect { get('k', { 'backends' => backends }) }.to raise_error(ArgumentError) { |error|
      expect(error.message).not_to include('hush')
    }
  end

  it 'in Hiera that is not a Hash is an error' do
    world.hiera = %w[a b]
    expect do
      get('k')
    end.to raise_error(ArgumentError, /simpkv Configuration Error.*'simpkv::options' in Hiera is not a Hash/)
  end
end

Conformance.describe 'Options of Hiera and of the call' do
  it 'are looked up once a catalog' do
    expect(Puppet::Pops::Lookup).to receive(:lookup).once.and_call_original
    put('a', 1)
    get('a')
    get('a', { 'softfail' => true })
    list('/', { 'app_id' => 'x' })
  end

  it 'are merged: hashes recurse, arrays are united, undef overrides nothing, nothing is modified' do
    world.hiera = site.merge('more' => { 'list' => [1, 2], 'kept' => 'site', 'flag' => false }, 'softfail' => true)
    options = deep_freeze('more' => { 'list' => [2, 3], 'new' => 'call', 'kept' => nil, 'flag' => nil },
                          'softfail' => nil)
    found = merged(options)
    expect(found).to include('more' => { 'list' => [1, 2, 3], 'kept' => 'site', 'flag' => false, 'new' => 'call' },
                             'softfail' => true, 'global' => false,
                             'environment' => 'production', 'backend' => 'default')
    expect(merged({})['more']).to eq('list' => [1, 2], 'kept' => 'site', 'flag' => false)
  end

  def deep_freeze(value)
    value.each_value { |member| deep_freeze(member) if member.respond_to?(:each_value) }
    value.freeze
  end

  it "replace a backend's ldap_uri as a whole" do
    uris = ->(list) { { 'backends' => { 'default' => { 'ldap_uri' => list } } } }
    world.hiera = { 'backends' => { 'default' => entry.merge('ldap_uri' => %w[ldap://a ldap://b]) } }
    expect(merged(uris.call(%w[ldap://c]))['backends']['default']['ldap_uri']).to eq(%w[ldap://c])
    expect(merged(uris.call(nil))['backends']['default']['ldap_uri']).to eq(%w[ldap://a ldap://b])
  end

  it 'reach the plugin whole' do
    instance = nil
    whole = { 'own' => [1], 'environment' => 'production', 'backend' => 'default', 'softfail' => false,
              'global' => false, 'backends' => { 'default' => entry } }
    plugin = world.adapter.plugin_info[entry['type']][:class]
    expect(plugin).to(receive(:new).and_wrap_original do |original, name|
      instance = original.call(name)
      expect(instance).to receive(:configure).with(whole).and_call_original
      instance
    end)
    put('a', 1, {}, { 'own' => [1] })
    expect(instance.name).to eq("#{entry['type']}/conformance")
  end
end
