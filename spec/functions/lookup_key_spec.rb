# frozen_string_literal: true

require_relative '../puppet_helper'
require 'open3'
require_relative '../support/another_ruby'
require_relative '../support/puppet_command'

# Real catalogs, over a real hiera.yaml.
RSpec.describe 'simpkv::lookup_key' do
  let!(:world) { PuppetWorld.new }
  let(:backend) { { 'type' => 'counting', 'id' => 'x' } }
  let(:backends) { { 'default' => backend } }
  let(:calls) { MemoryStore.entries('calls') }

  # The memory plugin, which counts its calls, and may fail.
  counting = <<~RUBY
    template = File.join(PuppetWorld::PROJECT, 'spec/support/modules/thirdparty/lib/puppet_x/simpkv/memory_plugin.rb')
    parent = lambda do
      plugin_class = nil
      Object.new.instance_eval(File.read(template), template)
      plugin_class
    end.call
    plugin_class = Class.new(parent) do
      %i[list get exists put].each do |operation|
        define_method(operation) do |*arguments|
          calls = MemoryStore.entries('calls')
          calls[operation] = calls[operation].to_i + 1
          raise 'out of order' if calls['broken']
          raise 'no luck' if operation == :list && calls['terse']

          super(*arguments)
        end
      end
    end
  RUBY

  before { world.add_plugin('counting', 'counting', counting) }

  after do
    world.close
    MemoryStore.clear
  end

  # Writes hiera.yaml, for later catalogs.
  def hierarchy(*levels)
    levels = [*levels, yaml_level('data.yaml')].each_with_index.map do |level, n|
      ours = { 'name' => "level #{n}", 'lookup_key' => 'simpkv::lookup_key' }
      ours.merge(level).reject { |option, _| option == 'lookup_key' && level.key?('data_hash') }
    end
    File.write(File.join(world.dir, 'hiera.yaml'), { 'version' => 5, 'hierarchy' => levels }.to_yaml)
    world.fresh_environment
  end

  def level(options = {})
    { 'options' => { 'backends' => backends }.merge(options) }
  end

  def yaml_level(path)
    { 'data_hash' => 'yaml_data', 'datadir' => world.dir, 'path' => path }
  end

  # An interpolation of hiera.yaml.
  def variable(name)
    "%{#{name}}"
  end

  def data(values)
    File.write(File.join(world.dir, 'data.yaml'), values.to_yaml)
  end

  def put(key, value, options = {}, through = world)
    through.call('simpkv::put', key, value, {}, { 'backends' => backends }.merge(options))
  end

  # Stores keys, and continues in another catalog.
  def stored(entries, options = {})
    entries.each { |key, value| put(key, value, options) }
    calls.clear
    world.fresh_catalog
  end

  def lookup(key)
    world.call('lookup', key)
  end

  def absent?(key)
    world.call('lookup', key, { 'default_value' => 'absent' }) == 'absent'
  end

  # @return [String] the output of `puppet lookup --explain`
  def explained(key)
    world.inside do |compiler|
      invocation = Puppet::Pops::Lookup::Invocation.new(compiler.topscope, {}, {}, true)
      catch(:no_such_key) { Puppet::Pops::Lookup.lookup(key, nil, nil, false, nil, invocation) }
      invocation.explainer.explain
    rescue Puppet::DataBinding::LookupError
      invocation.explainer.explain
    end
  end

  # Stores a document that `simpkv::put` would not write.
  def store_raw(key, document)
    MemoryStore.entries('counting/x').merge!('environments' => nil, 'environments/production' => nil,
                                             'environments/production/hiera' => nil,
                                             "environments/production/hiera/#{key}" => document)
  end

  it 'returns stored values to lookups and to parameters of classes' do
    stored('hiera/profile::db::password' => 'secret', 'hiera/site::port' => 8080)
    hierarchy(level)
    catalog = world.compile(<<~PUPPET)
      class site(Integer $port) { notify { "port ${port}, ${lookup('profile::db::password')}": } }
      include site
    PUPPET
    expect(catalog.resource('Notify', 'port 8080, secret')).not_to be_nil
  end

  describe 'with formats' do
    before { hierarchy(level('formats' => { 'hash' => 'sha512-crypt', 'hex' => 'hex' })) }

    def secret(options = {})
      world.call('simpkv::secret', 'hiera/app1::db', { 'backends' => backends }.merge(options)).unwrap
    end

    it 'finds the forms of a secret by their endings, as Sensitive, and makes one once' do
      made = secret
      world.fresh_catalog
      found = lookup('app1::db_hash')
      expect(found.unwrap).to eq(made.crypt(found.unwrap))
      world.fresh_catalog
      expect(lookup('app1::db_hash').unwrap).to eq(found.unwrap)
      expect(lookup('app1::db_hex').unwrap).to eq(made.unpack1('H*'))
      expect(secret('format' => 'sha512-crypt')).to eq(found.unwrap)
    end

    it 'makes no secret' do
      expect([absent?('app1::db_hash'), absent?('app1::db_other'), absent?('_hash')]).to eq([true, true, true])
      expect(calls['put'].to_i).to eq(0)
    end

    it 'prefers a key of that name' do
      stored('hiera/app1::db' => 'x', 'hiera/app1::db_hash' => 'stored')
      expect(lookup('app1::db_hash')).to eq('stored')
    end

    it 'finds nothing for a key that is no secret, and says which format is unknown' do
      stored('hiera/app1::list' => [1])
      expect(absent?('app1::list_hash')).to be(true)
      hierarchy(level('formats' => { 'hash' => 'none' }))
      stored('hiera/app1::db' => 'x')
      expect { lookup('app1::db_hash') }.to raise_error(ArgumentError, /option 'format': expected 'plain'/)
    end
  end

  it 'takes an expired key for a missing one, as a value and in the hash of a folder' do
    stored('hiera/app/live' => 1)
    %w[gone app/gone].each { |key| store_raw(key, '{"value":"old","expires":"2020-01-01T00:00:00Z"}') }
    MemoryStore.entries('counting/x')['environments/production/hiera/app'] = nil
    hierarchy(level('dots' => 'folders'))
    expect([absent?('gone'), absent?('app.gone'), lookup('app')]).to eq([true, true, { 'live' => 1 }])
    expect(explained('gone')).to include("key 'hiera/gone' of environment 'production': not there")
  end

  it 'returns any value: a hash with keys to look up in, undef, a Sensitive, bytes' do
    sensitive = Puppet::Pops::Types::PSensitiveType::Sensitive.new('x')
    stored('hiera/h' => { 'a' => [1, 2] }, 'hiera/s' => sensitive, 'hiera/b' => "\xff\x00".b)
    store_raw('u', '{"value":null,"metadata":{}}')
    hierarchy(level)
    expect([lookup('h.a.1'), lookup('u'), lookup('b')]).to eq([2, nil, "\xff\x00".b])
    expect(lookup('s')).to be_a(sensitive.class).and have_attributes(unwrap: 'x')
  end

  it 'wraps values in Sensitive with the option sensitive, and none twice' do
    stored('hiera/a' => 'x', 'hiera/s' => Puppet::Pops::Types::PSensitiveType::Sensitive.new('y'))
    hierarchy(level('sensitive' => true))
    expect(%w[a s].map { |key| lookup(key).unwrap }).to eq(%w[x y])
  end

  it 'interpolates nothing in values' do
    stored('hiera/a' => "%{lookup('b')}", 'hiera/b' => 1)
    hierarchy(level)
    expect(lookup('a')).to eq("%{lookup('b')}")
  end

  it 'takes part in merges, and supports lookup_options' do
    stored('hiera/a' => { 'x' => 1 }, 'low/a' => { 'y' => 2 },
           'hiera/lookup_options' => { 'a' => { 'merge' => 'hash' } })
    hierarchy(level, level('folder' => 'low'))
    expect(lookup('a')).to eq('x' => 1, 'y' => 2)
  end

  # Puppet took the upper Sensitive for the result, and `bob` vanished without a word.
  describe 'with a Sensitive Hash or Array' do
    let(:sensitive) { Puppet::Pops::Types::PSensitiveType::Sensitive }

    def unwrapped(value)
      case value
      when Hash then value.transform_values { |member| unwrapped(member) }
      when Array then value.map { |member| unwrapped(member) }
      else value.is_a?(sensitive) ? [:secret, value.unwrap] : value
      end
    end

    def merged(upper, lower, merge, options = {})
      stored('hiera/a' => upper, 'low/a' => lower, 'hiera/lookup_options' => { 'a' => { 'merge' => merge } })
      hierarchy(level(options), level(options.merge('folder' => 'low')))
      unwrapped(lookup('a'))
    end

    it 'makes the members Sensitive, so that a deep merge keeps those of all levels' do
      upper = { 'alice' => { 'password' => 'x', 'groups' => ['a'], 'active' => false, 'shell' => nil } }
      lower = { 'alice' => { 'uid' => 1, 'groups' => ['b'] }, 'bob' => { 'password' => 'y' } }
      expected = { 'alice' => { 'password' => [:secret, 'x'], 'groups' => [[:secret, 'b'], [:secret, 'a']],
                                'active' => false, 'shell' => nil, 'uid' => [:secret, 1] },
                   'bob' => { 'password' => [:secret, 'y'] } }
      expect(merged(sensitive.new(upper), sensitive.new(lower), 'deep')).to eq(expected)
      expect(merged(upper, lower, 'deep', 'sensitive' => true)).to eq(expected)
      expect(merged(upper.transform_values { |each| sensitive.new(each) }, sensitive.new(lower), 'deep')['alice'])
        .to include('uid' => [:secret, 1], 'active' => false)
      expect(lookup('a.bob.password')).to eq(sensitive.new('y'))
    end

    it 'merges it with a level in files' do
      stored('hiera/a' => sensitive.new('x' => '1'))
      data('a' => { 'y' => 2 }, 'lookup_options' => { 'a' => { 'merge' => 'deep' } })
      hierarchy(level)
      expect(unwrapped(lookup('a'))).to eq('x' => [:secret, '1'], 'y' => 2)
    end

    it 'lets Puppet refuse the merges that know no Sensitive, and shows no value' do
      { 'hash' => { 'a' => 'pl4nted' }, 'unique' => ['pl4nted'] }.each do |merge, value|
        expect { merged(sensitive.new(value), sensitive.new(value), merge) }
          .to raise_error(/merge has wrong type/) { |error| expect(error.message).not_to include('pl4nted') }
      end
    end
  end

  describe 'asks the backend' do
    it 'once in a catalog, for 1,000 missing keys' do
      stored('hiera/a' => 1)
      hierarchy(level)
      1000.times { |n| expect(absent?("app::key#{n}")).to be(true) }
      expect(lookup('a')).to eq(1)
      expect(calls).to eq(list: 1)
    end

    it 'once for 1,000 keys in a missing folder, if the plugin reports it as missing' do
      telling = 'plugin_class.define_method(:list_present) { |dir| list(dir)[:result] ? raise : ' \
                "{ result: false, err_msg: nil } }\n"
      world.add_plugin('counting', 'counting', counting + telling)
      hierarchy(level)
      calls.clear
      1000.times { |n| expect(absent?("app::key#{n}")).to be(true) }
      expect(calls).to eq(list: 1)
    end

    it 'twice if the plugin only fails, with any message' do
      [false, true].each do |terse|
        hierarchy(level)
        calls.clear
        calls['terse'] = terse
        10.times { |n| expect(absent?("app::key#{n}")).to be(true) }
        expect(calls).to include(list: 1, exists: 1)
      end
      stored('hiera/a' => 1)
      calls['terse'] = true
      expect { lookup('a') }.to raise_error(/simpkv counting.x Error: no luck/)
    end

    it 'once if another level makes Hiera drop its cache, as a level with module_name does' do
      stored('hiera/a' => 1)
      hierarchy(yaml_level("#{variable('v')}.yaml"), level)
      world.compile((1..3).map { |n| "class c#{n} { $v = #{n} notice(lookup('a')) }\ninclude c#{n}\n" }.join)
      expect(calls).to eq(list: 1)
    end

    it 'once for each level, and once for two equal levels' do
      stored('one/a' => 1, 'two/b' => 2)
      hierarchy(level('folder' => 'one'), level('folder' => 'two'), level('folder' => 'one'))
      10.times { |n| expect(absent?("k#{n}")).to be(true) }
      expect([lookup('a'), lookup('b'), calls]).to eq([1, 2, { list: 2 }])
    end

    it 'again for the next catalog, which sees new values' do
      stored('hiera/a' => 1)
      hierarchy(level)
      environment = world.environment
      expect(lookup('a')).to eq(1)
      put('hiera/a', 2)
      expect(lookup('a')).to eq(1)
      world.fresh_catalog
      expect([lookup('a'), world.environment]).to eq([2, environment])
    end

    it 'at the lookup of a document that does not fit into memory' do
      stored((10..29).to_h { |n| ["hiera/big#{n}", n.to_s * 512 * 1024] })
      hierarchy(level)
      (10..29).each { |n| expect(lookup("big#{n}") == n.to_s * 512 * 1024).to be(true) }
      expect(absent?('big99')).to be(true)
      expect(calls).to include(list: 1, get: be_between(4, 6))
    end
  end

  describe 'never returns its own keys' do
    it 'with any stored value, and does not open the backend' do
      stored('hiera/simpkv::options' => { 'backends' => 'wrong' }, 'hiera/simpkv' => 1, 'hiera/simpkvx' => 1)
      hierarchy(level('confine_to_keys' => ['simpkv']))
      expect(%w[simpkv::options simpkv::other simpkv].all? { |key| absent?(key) }).to be(true)
      expect(calls).to eq({})
      expect(lookup('simpkvx')).to eq(1)
    end

    it 'and does not look up simpkv::options, which may come from the same hierarchy' do
      stored('hiera/a' => 1)
      data('simpkv::options' => { 'backends' => backends, 'softfail' => true })
      hierarchy(level)
      world.compile("if lookup('a') != 1 or simpkv::get('hiera/a')['value'] != 1 { fail('no') }")
      expect(world.call('simpkv::exists', 'a')).to be(false)
    end

    it 'and works if simpkv::options are invalid' do
      stored('hiera/a' => 1)
      data('simpkv::options' => 5)
      hierarchy(level)
      expect(lookup('a')).to eq(1)
    end
  end

  it 'looks up only keys that confine_to_keys matches' do
    stored('hiera/app::a' => 1, 'hiera/other::app::a' => 2)
    hierarchy(level('confine_to_keys' => ['^app::', 'z$']))
    expect(absent?('other::app::a')).to be(true)
    expect(calls).to eq({})
    expect(lookup('app::a')).to eq(1)
    hierarchy(level('confine_to_keys' => []))
    expect(absent?('app::a')).to be(true)
  end

  describe 'with dots in keys' do
    before { stored('hiera/app.db' => 'kept', 'hiera/app/db/password' => 'in a folder', 'hiera/app/port' => 1) }

    it 'looks them up with their dots' do
      hierarchy(level)
      expect(lookup("'app.db'")).to eq('kept')
      expect(["'app.db.password'", 'app', 'app.db'].all? { |key| absent?(key) }).to be(true)
      expect(calls).to eq(list: 1)
    end

    it 'looks them up in folders, quoted or not, with dots set to folders' do
      hierarchy(level('dots' => 'folders'))
      found = ["'app.db.password'", 'app.db.password', 'app.port'].map { |key| lookup(key) }
      expect(found).to eq(['in a folder', 'in a folder', 1])
      expect(lookup('app')).to eq('db' => { 'password' => 'in a folder' }, 'port' => 1)
      100.times { |n| expect(absent?("'app.db.k#{n}'") && absent?("no#{n}.folder")).to be(true) }
      expect(["'app..port'", "'.'", "'.app'", "'app.'"].all? { |key| absent?(key) }).to be(true)
      expect(calls).to eq(list: 3)
    end

    it 'finds nothing in a folder without keys' do
      MemoryStore.entries('counting/x')['environments/production/hiera/empty'] = nil
      hierarchy(level('dots' => 'folders'))
      expect(absent?('empty')).to be(true)
    end
  end

  describe 'looks' do
    it "among the global keys, or in an environment: the catalog's, or the one in the options" do
      stored({ 'hiera/a' => 'global' }, { 'global' => true })
      stored('hiera/a' => 'production')
      hierarchy(level('global' => true))
      expect(lookup('a')).to eq('global')
      hierarchy(level)
      expect(lookup('a')).to eq('production')
      other = PuppetWorld.new(environment: 'dev', dir: world.dir)
      hierarchy(level)
      expect(other.call('lookup', 'a', { 'default_value' => 'absent' })).to eq('absent')
      hierarchy(level('environment' => 'production'))
      expect(other.fresh_environment.call('lookup', 'a')).to eq('production')
      other.close
    end

    it 'in a folder with variables of the node, one for each level' do
      stored('hiera/roles/db/a' => 'db', 'hiera/roles/web/a' => 'web', 'hiera/common/a' => 'all', 'hiera/common/b' => 1)
      hierarchy(level('folder' => "hiera/roles/#{variable('role')}"), level('folder' => 'hiera/common'))
      titles = ['db', 'web', 'other', ''].map do |role|
        world.compile("$role = '#{role}' notify { \"${lookup('a')} ${lookup('b')}\": }").resources.last.title
      end
      expect(titles).to eq(['db 1', 'web 1', 'all 1', 'all 1'])
    end

    it 'in several folders of one level with uris' do
      stored('hiera/nodes/n1/a' => 'node', 'hiera/common/a' => 'all', 'hiera/common/b' => 'all')
      hierarchy(level.merge('uris' => ['hiera/nodes/n1', 'hiera/nodes/n2', 'hiera/common']))
      expect([lookup('a'), lookup('b')]).to eq(%w[node all])
    end

    it 'nowhere for keys that cannot be stored, and not in a folder with an empty part' do
      stored('hiera/a' => 1)
      hierarchy(level)
      expect(['A', 'a b', "'../a'", "'a/./b'", 'é', '/', 'a/', '/a'].all? { |key| absent?(key) }).to be(true)
      expect(calls.keys - [:list]).to eq([])
      hierarchy(level('folder' => 'hiera/'), level('folder' => ''))
      calls.clear
      expect(absent?('a')).to be(true)
      expect(calls).to eq({})
    end
  end

  describe 'explains' do
    it 'the request and its outcome' do
      stored('hiera/a' => 'v4lue')
      hierarchy(level)
      expect(explained('a')).to include("asked simpkv backend 'default' (counting/x) for key 'hiera/a' of " \
                                        "environment 'production': found")
      expect(explained('b')).to include("key 'hiera/b' of environment 'production': not there")
      expect(explained('simpkv::b')).to include("not asked for 'simpkv::b': simpkv finds no keys of its own")
      expect(explained('B')).to include("not asked for 'B': key 'B' contains unsupported characters")
      hierarchy(level('global' => true, 'confine_to_keys' => ['^a'], 'folder' => 'hiera/'))
      expect(explained('b')).to include("not asked for 'b': it matches nothing in 'confine_to_keys'")
      expect(explained('a')).to include("the folder 'hiera/' has an empty part: a variable in hiera.yaml may be")
    end

    it 'to `puppet lookup`, and shows no Sensitive' do
      root = File.join(world.dir, 'root')
      file = { 'default' => { 'type' => 'file', 'id' => 'f', 'root_path' => root } }
      world.call('simpkv::put', 'hiera/a', 'pl4nted-value', {}, { 'backends' => file })
      hierarchy(level('backends' => file, 'sensitive' => true))
      FileUtils.mkdir_p(File.join(world.dir, 'environments/production'))
      out, status = puppet_lookup('--explain', 'a')
      expect(out).to match(%r{asked simpkv backend 'default' \(file/f\) for key 'hiera/a' of .*: found})
      expect([status.success?, out]).to match([true, /\A(?!.*pl4nted)/m])
    end

    it 'makes no secret with --compile: a placeholder stands for it' do
      root = File.join(world.dir, 'kept')
      file = { 'backends' => { 'default' => { 'type' => 'file', 'id' => 'f', 'root_path' => root } } }
      manifest = "notice(simpkv::secret('app1/db', #{file.to_json.gsub('":', '" => ')}).unwrap)"
      FileUtils.mkdir_p(File.join(world.dir, 'environments/production/manifests'))
      File.write(File.join(world.dir, 'environments/production/manifests/site.pp'), manifest)
      data('a' => 'found')
      hierarchy
      out, status = puppet_lookup('--compile', 'a')
      expect([status.success?, out]).to match([true, /found/])
      expect(out).to include('!simpkv-placeholder!app1/db')
      expect(Dir[File.join(root, '**/db')]).to be_empty
    end

    # The program, of the Puppet and on the Ruby that run this.
    def puppet_lookup(*arguments)
      File.write(File.join(world.dir, 'facts.yaml'), "kernel: Linux\n")
      folders = [*PuppetCommand.folders(File.join(world.dir, 'puppet')), '--confdir', world.dir, '--codedir', world.dir,
                 '--basemodulepath', File.join(world.dir, 'modules'), '--facts', File.join(world.dir, 'facts.yaml')]
      Open3.capture2e(*AnotherRuby.command('-e', PuppetCommand::SCRIPT, '--', 'lookup', *arguments, *folders,
                                           '--node', 'n1'))
    end
  end

  describe 'fails' do
    it 'if the backend fails, and names backend, folder and key' do
      stored('hiera/a' => 'pl4nted')
      hierarchy(level)
      calls['broken'] = true
      3.times do
        expect { lookup('a') }.to raise_error(
          %r{simpkv Error for simpkv::lookup_key with key='\w+' in folder 'hiera': simpkv counting/x Error: out of or}
        )
      end
      expect(calls[:list]).to eq(1)
    end

    it 'softly with softfail: it logs one warning, and finds nothing' do
      stored('hiera/a' => 'pl4nted')
      hierarchy(level('softfail' => true))
      calls['broken'] = true
      5.times { |n| expect(absent?("a#{n}")).to be(true) }
      expect(calls[:list]).to eq(1)
      expect(world.warnings).to eq(["simpkv Error for simpkv::lookup_key in folder 'hiera': simpkv counting/x Error: " \
                                    'out of order'])
      expect(explained('a')).to include("asked simpkv backend counting/x in folder 'hiera', which failed: simpkv")
    end

    it 'for an entry that cannot be read only at its own lookup' do
      stored('hiera/a' => 1)
      store_raw('bad', '{"value":"pl4nted')
      hierarchy(level)
      expect(lookup('a')).to eq(1)
      expect { lookup('bad') }.to raise_error(
        %r{with key='bad' in folder 'hiera': simpkv counting/x Error: Key 'hiera/bad': Failed to deserialize}
      )
      expect { lookup('bad') }.to(raise_error { |error| expect(error.full_message).not_to include('pl4nted') })
      hierarchy(level('softfail' => true))
      expect(absent?('bad')).to be(true)
    end

    {
      { 'foldr' => 'x' } => /Unknown option 'foldr' in hiera.yaml: did you mean 'folder'\?/,
      { 'folder' => 5 } => /'folder' in hiera.yaml must be the name of a folder/,
      { 'folder' => 'Pl4ce' } => /'folder' in hiera.yaml: folder 'Pl4ce' contains unsupported characters/,
      { 'folder' => 'a/../b' } => %r{'folder' in hiera.yaml: folder 'a/../b' contains disallowed},
      { 'global' => 'pl4nted' } => /'global' in hiera.yaml must be true or false/,
      { 'dots' => 'pl4nted' } => /'dots' in hiera.yaml must be a String, keep or folders/,
      { 'confine_to_keys' => 'pl4nted' } => /'confine_to_keys' in hiera.yaml must be a list of regular expressions/,
      { 'confine_to_keys' => ['^a', '(pl4nted'] } =>
        /'confine_to_keys' in hiera.yaml must be a list of regular expressions: number 2 of the list: end pattern/,
      { 'environment' => 'a/pl4nted' } => /'environment' in hiera.yaml must be the name of an environment/,
      { 'global' => true, 'environment' => 'dev' } => /'global' and 'environment' in hiera.yaml exclude each other/,
      { 'backend' => 'other' } => /No simpkv backend 'other' with 'id' and 'type' attributes has been configured/,
      { 'backends' => 'pl4nted' } => /'backends' in hiera.yaml must be a Hash/,
      { 'backends' => { 'default' => { 'type' => 'nosuch', 'id' => 'x' } } } => /simpkv backend plugin 'nosuch' not/
    }.each do |options, message|
      it "for #{options}, and names the valid values" do
        hierarchy(level(options))
        expect { lookup('a') }.to raise_error(ArgumentError, message) { |error|
          expect(error.message).to start_with('simpkv Configuration Error for simpkv::lookup_key: ')
          expect(error.message).not_to include('pl4nted')
        }
      end
    end

    it 'for a path' do
      hierarchy(level.merge('path' => 'data.yaml', 'datadir' => world.dir))
      expect { lookup('a') }.to raise_error(ArgumentError, /'path' in hiera.yaml is for files: use 'folder', or 'uris'/)
      hierarchy(level('folder' => 'a').merge('uri' => 'b'))
      expect { lookup('a') }.to raise_error(ArgumentError, /'folder' and 'uri' in hiera.yaml exclude each other/)
    end

    it 'in an environment that Bolt made up, unless the options name one' do
      bolt = PuppetWorld.new(environment: 'bolt_catalog', dir: world.dir)
      hierarchy(level)
      expect { bolt.call('lookup', 'a') }.to raise_error(
        ArgumentError, /environment 'bolt_catalog' is made up by Bolt: set 'environment' or 'global' in hiera.yaml/
      )
      stored('hiera/a' => 1)
      hierarchy(level('environment' => 'production'))
      expect(bolt.fresh_environment.call('lookup', 'a')).to eq(1)
      bolt.close
    end
  end

  it 'refuses another configuration of the same type and id for the functions of the catalog' do
    file = { 'type' => 'file', 'id' => 'f', 'root_path' => File.join(world.dir, 'root') }
    other = file.merge('root_path' => File.join(world.dir, 'other'))
    data('simpkv::options' => { 'backends' => { 'default' => other } })
    hierarchy(level('backends' => { 'default' => file }))
    expect(absent?('a')).to be(true)
    expect { world.call('simpkv::get', 'a') }.to raise_error(ArgumentError, /different backend configs.*in root_path/)
  end

  it 'uses files if no backend is configured, as the functions do' do
    allow(Simpkv::Config).to receive(:default_root_path).and_return(File.join(world.dir, 'default'))
    hierarchy({})
    expect(explained('a')).to include("asked simpkv backend 'default' (file/auto_default)")
    expect(Dir.exist?(File.join(world.dir, 'default'))).to be(true)
  end
end
