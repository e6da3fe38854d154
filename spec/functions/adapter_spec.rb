# frozen_string_literal: true

require_relative '../puppet_helper'

RSpec.describe 'The adapter' do
  let!(:world) { PuppetWorld.new }
  let(:root) { File.join(world.dir, 'store') }
  let(:memory) { { 'backends' => { 'default' => { 'type' => 'memory', 'id' => 'x' } } } }
  let(:file) { { 'backends' => { 'default' => { 'type' => 'file', 'id' => 'x', 'root_path' => root } } } }

  after do
    world.close
    MemoryStore.clear
  end

  def put(key, value, options)
    world.call('simpkv::put', key, value, {}, options)
  end

  def get(key, options)
    world.call('simpkv::get', key, options)
  end

  describe 'normalize_key' do
    let(:adapter) { world.adapter }

    {
      ['a/b', { 'environment' => 'dev' }] => 'environments/dev/a/b',
      ['/a//b/', { 'environment' => 'dev' }] => 'environments/dev/a/b',
      ['/', { 'environment' => 'dev' }] => 'environments/dev',
      ['a', { 'environment' => 'dev', 'global' => true }] => 'globals/a',
      ['/', { 'global' => true }] => 'globals',
      ['/', { 'environment' => '' }] => 'environments',
      ['a', { 'environment' => '' }] => 'environments/a'
    }.each do |(key, options), path|
      it "makes #{path} of #{key} with #{options}" do
        expect(adapter.normalize_key(key, options)).to eq(path)
        expect(adapter.normalize_key(key, options, :add_prefix)).to eq(path)
      end
    end

    it 'removes the prefix that it has added' do
      [{ 'environment' => 'dev' }, { 'global' => true }, { 'environment' => '' }].each do |options|
        path = adapter.normalize_key('a/b', options)
        expect(adapter.normalize_key(path, options, :remove_prefix)).to eq('a/b')
      end
    end

    it 'refuses names that lead elsewhere, and unknown operations' do
      ['..', '.', 'a/b', '../x'].each do |name|
        expect { adapter.normalize_key('a', { 'environment' => name }) }.to raise_error(ArgumentError)
      end
      expect { adapter.normalize_key('../a', { 'environment' => 'dev' }) }.to raise_error(Simpkv::Error)
      expect { adapter.normalize_key('a', { 'environment' => 'dev' }, :other) }.to raise_error(ArgumentError)
    end
  end

  # Others read what a server shows, which can be a half-deleted entry: spec/integration/half_deleted_entries_spec.rb.
  it 'reads what is stored before it creates a key' do
    put('k', 'v', file)
    stored = []
    allow_any_instance_of(Simpkv::Store).to receive(:get).and_wrap_original do |get, *path, **options|
      stored << options[:stored]
      get.call(*path, **options)
    end
    expect(world.call('simpkv::get_or_create', 'k', 'new', {}, file)).to eq('value' => 'v')
    expect(get('k', file)).to eq('value' => 'v')
    expect(stored).to eq([true, nil])
  end

  it 'serializes and deserializes' do
    adapter = world.adapter
    expect(adapter.serialize([1, 'é'], { 'm' => nil })).to eq('{"value":[1,"é"],"metadata":{"m":null}}')
    expect(adapter.deserialize('{"value":1}')).to eq(value: 1, metadata: {})
    expect do
      adapter.deserialize('{}')
    end.to raise_error(Simpkv::MalformedError, /Failed to deserialize: 'value' missing/)
  end

  # It was a StandardError, which callers of simpkv 1.0.0 do not rescue.
  it 'raises a RuntimeError for an invalid document, and for a value that cannot be stored' do
    expect { world.adapter.deserialize('no JSON') }.to raise_error(RuntimeError, /Failed to deserialize: JSON parse/)
    expect { world.adapter.serialize(Float::NAN, {}) }.to raise_error(RuntimeError, /cannot encode value: NaN/)
    expect(Simpkv::Error.ancestors).to include(RuntimeError)
  end

  it 'says that a backend of a type without plugin is malformed (it was "Unable to construct")' do
    wrong = { 'backend' => 'b', 'backends' => { 'b' => { 'type' => 'acme', 'id' => 'x' } } }
    expect { world.adapter.plugin_instance(wrong) }.to raise_error(
      RuntimeError,
      "Malformed backend config of backend 'b': there is no plugin of type 'acme', only of file, ldap, memory"
    )
  end

  it 'refuses two keys of a Hash that become the same string' do
    adapter = world.adapter
    expect { adapter.serialize({ 'x' => { /a/ => 1, '(?-mix:a)' => 2 } }, {}) }.to raise_error(
      Simpkv::UnencodableError, /value\['x'\].*: two keys have this name/
    )
  end

  it 'keeps its own lines of a backtrace' do
    own = ['/m/simpkv/lib/puppet_x/simpkv/acme_plugin.rb:3', '/m/simpkv/lib/puppet/functions/simpkv/put.rb:5']
    expect(world.adapter.filter_backtrace(['/puppet/lib/puppet/parser.rb:1', *own])).to eq(own)
    expect(world.adapter.filter_backtrace(nil)).to eq([])
  end

  describe 'with a plugin that fails' do
    let(:base) { "plugin_class = Class.new do\n  attr_reader :name\n  def initialize(name)\n    @name = name\n  end\n" }
    let(:options) { { 'backends' => { 'default' => { 'type' => 'acme', 'id' => 'x' } } } }

    def plugin(methods)
      configure = "  def configure(options)\n    { result: true, err_msg: nil }\n  end\n"
      world.add_plugin('zed', 'acme', "#{base}#{configure unless methods.include?('def configure')}#{methods}\nend\n")
    end

    def failure
      expect { get('k', options) }.to raise_error(RuntimeError) { |error| return error.message }
    end

    it 'puts its name before the text of the plugin, once' do
      plugin("def get(key)\n { result: nil, err_msg: 'no luck' }\n end")
      expect(failure).to eq("simpkv Error for simpkv::get with key='k': simpkv acme/x Error: no luck")
      world.fresh_catalog
      plugin("def get(key)\n { result: nil, err_msg: 'simpkv acme/x Error: no luck' }\n end")
      expect(failure).to eq("simpkv Error for simpkv::get with key='k': simpkv acme/x Error: no luck")
    end

    {
      'an exception' => ["raise 'no luck'", %r{simpkv acme/x Error: no luck\z}],
      'a LoadError' => ["require 'no_such_gem_anywhere'", %r{simpkv acme/x Error: .*no_such_gem_anywhere}],
      'a method that is missing' => ["'hush-hush'.no_such_method",
                                     %r{simpkv acme/x Error: NoMethodError at .*acme_plugin.rb}],
      'no result' => ['nil', %r{simpkv acme/x Error: get did not return a Hash}],
      'an empty answer' => ['{ result: nil, err_msg: nil }',
                            %r{simpkv acme/x Error: get returned no result and no reason}],
      'a result of the wrong type' => ['{ result: 5, err_msg: nil }', %r{simpkv acme/x Error: get returned no result}]
    }.each do |what, (code, message)|
      it "treats #{what} as a failure, which softfail turns into a warning" do
        plugin("def get(key)\n #{code}\n end")
        expect(failure).to match(message)
        expect(failure).not_to include('hush')
        expect(get('k', options.merge('softfail' => true))).to be_nil
        expect(world.warnings.last).to match(message)
      end
    end

    it 'reports why it cannot be configured at each call (it reported: no implicit conversion of nil), and retries' do
      world.add_plugin('zed', 'acme', <<-RUBY)
        #{base}
          def configure(options)
            ready = File.exist?('#{world.dir}/ready')
            { result: ready, err_msg: ready ? nil : 'the server is down' }
          end
          def get(key)
            { result: '{"value":1}', err_msg: nil }
          end
        end
      RUBY
      2.times do
        expect(failure).to eq("simpkv Error for simpkv::get with key='k': " \
                              "simpkv Error: Unable to construct 'acme/x': the server is down")
      end
      expect(get('k', options.merge('softfail' => true))).to be_nil
      File.write(File.join(world.dir, 'ready'), '')
      expect(get('k', options)).to eq('value' => 1)
    end

    it 'reports an exception of its constructor or of configure' do
      plugin("def configure(options)\n raise 'no luck'\n end")
      expect(failure).to end_with("simpkv Error: Unable to construct 'acme/x': no luck")
      world.fresh_environment
      plugin("def initialize\n end")
      expect(failure).to match(%r{simpkv Error: Unable to construct 'acme/x': .*wrong number of arguments})
    end

    it 'does not let a plugin change the options of later calls' do
      plugin("def configure(options)\n options.clear\n { result: true, err_msg: nil }\n end\n" \
             "def get(key)\n { result: '{\"value\":1}', err_msg: nil }\n end")
      2.times { expect(get('k', options)).to eq('value' => 1) }
    end

    it 'sorts the keys and folders of a list' do
      plugin(<<-RUBY)
        def list(dir)
          { result: { keys: { 'b' => '{"value":1}', 'a' => '{"value":2}' }, folders: %w[z y] }, err_msg: nil }
        end
      RUBY
      found = world.call('simpkv::list', 'd', options)
      expect(found['keys'].keys).to eq(%w[a b])
      expect(found['folders']).to eq(%w[y z])
    end

    it 'requests a partial list only if entries may be left out, and names these' do
      plugin(<<-RUBY)
        def list(dir)
          { result: nil, err_msg: 'k2 is locked' }
        end
        def list_partial(dir)
          { result: { keys: { 'k1' => '{"value":1}' }, folders: [], errors: { 'k2' => 'it is locked' } }, err_msg: nil }
        end
      RUBY
      expect { world.call('simpkv::list', 'd', options) }.to raise_error(RuntimeError, /k2 is locked/)
      found = world.call('simpkv::list', 'd', options.merge('skip_undecodable' => true))
      expect(found).to eq('keys' => { 'k1' => { 'value' => 1 } }, 'folders' => [])
      expect(world.warnings).to match([%r{d/k2.*it is locked}])
    end
  end

  describe 'given another configuration for a type and id that are in use (the first was used silently)' do
    def moved(options)
      { 'backends' => { 'default' => file['backends']['default'].merge(options) } }
    end

    it 'refuses another location' do
      put('a', 1, file)
      what = "simpkv Configuration Error for simpkv::get with key='a': "
      why = 'contains different backend configs for type=file id=x'
      elsewhere = moved('root_path' => "#{root}2")
      expect { get('a', elsewhere) }.to raise_error(ArgumentError, /\A#{what}.*#{why}.*root_path/)
      expect(get('a', file)).to eq('value' => 1)
    end

    it 'refuses it at each call, and with softfail' do
      put('a', 1, file)
      2.times do
        expect { put('a', 2, moved('root_path' => "#{root}2").merge('softfail' => true)) }.to raise_error(ArgumentError)
      end
      expect(File.exist?("#{root}2")).to be(false)
    end

    it 'accepts the same location in another spelling' do
      put('a', 1, file)
      expect(get('a', moved('root_path' => "#{root}//"))).to eq('value' => 1)
      expect(world.warnings).to eq([])
    end

    it 'warns once of other differences, and keeps the first configuration' do
      put('a', 1, file)
      2.times { get('a', moved('lock_timeout_seconds' => 1)) }
      expect(world.warnings).to match([/lock_timeout_seconds/])
    end

    it 'notices options that the caller has changed since the last call' do
      options = file.merge('backend' => 'default', 'environment' => 'production')
      expect(world.adapter.put('a', 1, {}, options)).to include(result: true)
      options['backends']['default']['root_path'] = "#{root}2"
      expect { world.adapter.get('a', options) }.to raise_error(Simpkv::ConfigError, /root_path/)
    end

    it 'notices a changed backend in options that are frozen otherwise' do
      options = file.merge('backend' => 'default', 'environment' => 'production').freeze
      expect(world.adapter.put('a', 1, {}, options)).to include(result: true)
      options['backends']['default']['root_path'] = "#{root}2"
      expect { world.adapter.get('a', options) }.to raise_error(Simpkv::ConfigError, /root_path/)
    end

    it 'accepts any configuration in the next catalog' do
      put('a', 1, file)
      world.fresh_catalog
      expect(put('a', 2, moved('root_path' => "#{root}2"))).to be(true)
    end
  end

  it 'warns once a catalog of an unknown option' do
    misspelt = file.merge('sofftail' => true)
    3.times { |n| put('a', n, misspelt.merge('app_id' => "app#{n}")) }
    expect(world.warnings).to match([/\AUnknown option 'sofftail' in simpkv configuration/])
  end

  it 'merges once for each set of options' do
    expect(Simpkv::Validation).to receive(:check).twice.and_call_original
    3.times { put('a', 1, memory) }
    3.times { get('a', memory.merge('softfail' => true)) }
  end

  it 'notices options that are changed between two calls of a function' do
    options = { 'backends' => { 'default' => { 'type' => 'memory', 'id' => 'x' } } }
    put('a', 1, options)
    options['backends']['default']['id'] = 'y'
    expect(world.call('simpkv::exists', 'a', options)).to be(false)
    options['backends']['default']['id'] = 'x'
    expect(world.call('simpkv::exists', 'a', options)).to be(true)
  end

  it 'remembers options under a copy of its own (a changed Hash was found by chance now and then)' do
    options = { 'backends' => { 'default' => { 'type' => 'memory', 'id' => 'x' } } }
    put('a', 1, options)
    expect(world.adapter.calls.merged_options.keys).to eq([options])
    expect(world.adapter.calls.merged_options.keys.first).not_to be(options)
    options['backends']['default']['id'] = 'y'
    expect(world.adapter.calls.merged_options.keys).not_to include(options)
  end

  it 'reports a value that is nested too deeply, with softfail as a warning (the stack overflowed)' do
    deep = 5000.times.reduce(1) { |inner, _| [inner] }
    expect { put('a', deep, memory) }
      .to raise_error(RuntimeError, /simpkv Error for simpkv::put with key='a': .*deeper/)
    expect(put('a', deep, memory.merge('softfail' => true))).to be(false)
    expect { world.call('simpkv::put', 'a', 1, { 'm' => deep }, memory) }.to raise_error(RuntimeError, /deeper/)
  end

  it 'keeps the documents of a folder that fit, also after one that does not' do
    options = memory.merge('backend' => 'default', 'environment' => 'production')
    ['x' * 100, 'small', 'y' * 100, 'tiny'].each_with_index do |value, number|
      expect(world.adapter.put("f/k#{number}", value, {}, options)).to include(result: true)
    end
    documents = world.adapter.calls.perform(:snapshot, 'f', 65, options)[:documents]
    expect(documents.compact.keys).to match_array(%w[k1 k3])
    expect(documents.keys).to match_array(%w[k0 k1 k2 k3])
  end

  it 'makes no nested call of a function for options that it has merged before (each call made one)' do
    put('a', 1, memory)
    names = []
    allow(Puppet::Util::Profiler).to receive(:profile).and_wrap_original do |original, description, metric, &block|
      names << description
      original.call(description, metric, &block)
    end
    get('a', memory)
    expect(names).to eq([])
  end
end
