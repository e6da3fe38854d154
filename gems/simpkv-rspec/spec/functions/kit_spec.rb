# frozen_string_literal: true

require_relative '../../../../spec/puppet_helper'
require_relative '../../../../spec/support/clock'
require 'simpkv/config/site_file'
require 'simpkv/rspec/example_methods'
require 'simpkv/rspec/fresh_catalogs'
require 'simpkv/rspec/have_stored'
require 'simpkv/rspec/stores'

# The kit for the authors of modules, without simpkv/rspec.rb, which would give stores to all examples of this process.
# With its type, rspec-puppet does not include its own methods, such as `environment`.
RSpec.describe Simpkv::Kit, type: :kit do
  include Simpkv::Kit::ExampleMethods
  include Clock

  let(:stores) { Simpkv::Kit::Stores.new }
  let(:environment) { 'production' }
  let(:hiera) { {} }
  let(:world) { PuppetWorld.new(hiera: hiera) }

  before { allow(Simpkv::UnitTest).to receive_messages(running?: true, kit: stores) }

  around { |example| stores_of_example { example.run } }

  after { world.close }

  # The stub of the kit is not there yet.
  def stores_of_example(&block)
    stores.for_example(&block)
  end

  def compile(code)
    world.compile(code)
  end

  def secret(value)
    Puppet::Pops::Types::PSensitiveType::Sensitive.new(value)
  end

  # @return [String] the message of a matcher that must fail
  def failure_of(matcher, actual = nil)
    expect(matcher.matches?(actual)).to be(false)
    matcher.failure_message
  end

  describe 'simpkv::secret' do
    it 'returns a secret that the example has given, and a placeholder for another one, which is not stored' do
      simpkv_with('app1/db' => secret('t0ken'))
      catalog = compile(<<~PUPPET)
        notify { 'given': message => simpkv::secret('app1/db') }
        notify { 'missing': message => simpkv::secret('app1/other') }
      PUPPET
      expect(%w[given missing].map { |title| catalog.resource('Notify', title)[:message] })
        .to eq(%w[t0ken !simpkv-placeholder!app1/other])
      expect(catalog.resource('Simpkv_placeholder', 'simpkv')).to be_nil
      expect(nil).not_to have_stored('app1/other')
    end
  end

  describe 'have_stored' do
    before { simpkv_with('app1/color' => 'blue', 'app1/token' => secret('t0ken')) }

    it 'finds a key with its value and metadata' do
      simpkv_with({ 'app1/size' => { 'width' => 3 } }, metadata: { 'owner' => 'dba', 'since' => 2026 })
      expect(nil).to have_stored('app1/size').with_value('width' => 3).with_metadata('owner' => 'dba', 'since' => 2026)
      expect(nil).to have_stored('app1/size').with_value(include('width')).with_metadata(include('owner' => 'dba'))
      expect(nil).to have_stored('app1/color').with_value(/bl/).with_metadata({})
    end

    it 'takes a Sensitive for one, and what it wraps for both' do
      expect(nil).to have_stored('app1/token').with_value(secret('t0ken'))
      expect(nil).to have_stored('app1/token').with_value('t0ken')
      expect(have_stored('app1/color').with_value(secret('blue')).matches?(nil)).to be(false)
    end

    it 'names what is stored instead' do
      simpkv_with({ 'site' => 1 }, global: true)
      simpkv_with({ 'app2/a' => 1 }, environment: 'dev')
      simpkv_with({ 'b' => 1 }, backend: 'other')
      expect(failure_of(have_stored('app1/colour'))).to eq(
        "expected 'app1/colour' in environment 'production', but the store has 'app1/color', 'app1/token', " \
        "'app2/a' (environment 'dev'), 'b' of backend 'other', 'site' (global)"
      )
    end

    it 'names twenty keys at most, and says that there are none, or a folder' do
      expect(failure_of(have_stored('x', backend: 'none')))
        .to include("the store has 'app1/color' of backend 'default'")
      expect(failure_of(have_stored('app1'))).to end_with('but that is a folder')
      simpkv_with((1..20).to_h { |number| ["many/#{number}", number] })
      expect(failure_of(have_stored('x'))).to end_with("'many/7' and 2 more")
      stores.for_example { expect(failure_of(have_stored('x'))).to end_with('but the store is empty') }
    end

    it 'shows plain values that differ' do
      expect(failure_of(have_stored('app1/color').with_value('red').with_metadata('a' => 1)))
        .to eq("expected 'app1/color' in environment 'production' to match, but its value is \"blue\", not \"red\", " \
               'and its metadata is {}, not {"a"=>1}'.gsub('{"a"=>1}', { 'a' => 1 }.inspect))
    end

    # A Sensitive on one side tells that the other one is a secret as well.
    it 'shows no value where one of the two holds a Sensitive, or a matcher could' do
      simpkv_with('app1/nested' => { 'deep' => [secret('h1dden')] })
      wrong = [have_stored('app1/token').with_value('gu3ss'), have_stored('app1/color').with_value(secret('gu3ss')),
               have_stored('app1/nested').with_value('deep' => ['gu3ss']),
               have_stored('app1/color').with_value(include(secret('gu3ss')))]
      wrong.each do |matcher|
        expect(failure_of(matcher)).to end_with('its value differs, and is not shown')
        expect(matcher.failure_message + matcher.description).not_to match(/gu3ss|t0ken|h1dden|blue/)
      end
    end

    it 'fails, negated, for what is stored, and does not show it' do
      matcher = have_stored('app1/token').with_value('t0ken').with_metadata({})
      expect { expect(nil).not_to(matcher) }.to raise_error(
        RSpec::Expectations::ExpectationNotMetError,
        "expected no 'app1/token' in environment 'production' with the given value and the given metadata, " \
        'but it is stored'
      )
      expect(nil).not_to have_stored('app1/token').with_value('other')
      expect(nil).not_to have_stored('app1/none').with_value('t0ken')
    end

    it 'shortens long values' do
      simpkv_with('long' => 'x' * 3000)
      message = failure_of(have_stored('long').with_value('y' * 3000))
      expect(message).to match(/its value is "x+\.\.\.x+", not "y+\.\.\.y+"\z/)
      expect(message.length).to be < 600
    end

    # The NoMethodError of the second attempt used to show the value.
    it 'gives a block what holds a Sensitive in both forms, and shows no error of a form that it does not fit' do
      expect(nil).to have_stored('app1/token').with_value(satisfy { |value| value.unwrap == 't0ken' })
      expect(nil).to have_stored('app1/token').with_value(satisfy { |value| value.start_with?('t0') })
      expect(nil).not_to have_stored('app1/token').with_value(satisfy { |value| value.unwrap == 'q' })
      expect(nil).not_to have_stored('app1/token').with_value(satisfy { |value| expect(value).to eq('q') })
    end

    it 'refuses a block that fits neither form, without a value or the error that could show it' do
      matcher = have_stored('app1/token').with_value(satisfy { |value| value.unwrap.nonsense })
      expect { expect(nil).not_to matcher }.to raise_error(ArgumentError) { |error|
        expect(error.message).to eq("what is given for the value of 'app1/token' raises NoMethodError for the value " \
                                    'as it is stored, and NoMethodError for the value without Sensitive')
        expect(error.cause).to be_nil
        expect(error.backtrace.first).to start_with(__FILE__)
      }
      expect { expect(nil).to have_stored('app1/color').with_value(satisfy(&:nonsense)) }.to raise_error(NoMethodError)
    end

    it 'composes with other matchers, and compiles a block once' do
      expect(nil).to have_stored('app1/token').with_value('gu3ss').or have_stored('app1/color')
      expect([nil]).to all(have_stored('app1/color').and(have_stored('app1/token')))
      calls = 0
      expect { simpkv_with("new#{calls += 1}" => 1) }.to have_stored('new1').and have_stored('app1/color')
      expect(failure_of(have_stored('new1').and(have_stored('new2')), -> { calls += 1 })).to include("'new2'")
      expect(calls).to eq(2)
    end

    it 'shows no value when it is inspected' do
      matcher = have_stored('app1/token').with_value(secret('gu3ss'))
      matcher.matches?(nil)
      expect(matcher.inspect).to eq("#<Simpkv::Kit::HaveStored have stored 'app1/token' with the given value>")
    end

    it 'compiles a block and a catalog that rspec-puppet has not compiled yet, and calls no function' do
      expect { compile('simpkv::put("k", 1)') }.to have_stored('k')
      expect(-> { compile('simpkv::put("l", 1)') }).to have_stored('l')
      function = double('a function of rspec-puppet', call: nil)
      expect(function).to have_stored('l')
      expect(function).not_to have_received(:call)
    end

    it 'refuses malformed keys and unknown options, also negated' do
      expect { expect(nil).not_to have_stored('app1/../x') }.to raise_error(Simpkv::InvalidError)
      expect { expect(nil).not_to have_stored('k', globl: true) }.to raise_error(ArgumentError, /'globl'.*global/)
      expect { have_stored('app1/').with_value(1) }.to raise_error(ArgumentError, %r{the folder 'app1/' has no value})
    end

    it 'refuses keys that are not Strings, and options that are not a Hash, without a value' do
      expect { have_stored(:sym) }.to raise_error(ArgumentError, "keys are Strings: have_stored('app1/color')")
      expect { have_stored('k', secret('t0ken')) }
        .to raise_error(ArgumentError, 'the options must be a Hash, such as { global: true }')
    end

    it 'takes an expired key for a missing one' do
      compile('simpkv::put("short", 1, {}, { "expires_after" => 1 })')
      expect(nil).to have_stored('short')
      clock_at((Time.now.utc + 3600).iso8601)
      expect(nil).not_to have_stored('short')
    end
  end

  describe 'simpkv_with' do
    it 'gives keys to functions and to Hiera' do
      simpkv_with('app1/' => { 'token' => secret('t0ken'), 'deep/' => { 'x' => 1 } }, 'hosts/' => {})
      catalog = compile(<<~PUPPET)
        $token = simpkv::get('app1/token')['value']
        notify { "${$token =~ Sensitive} ${simpkv::value('app1/deep/x')} ${simpkv::list('hosts')['keys'].size}": }
      PUPPET
      expect(catalog.resource('Notify', 'true 1 0')).not_to be_nil
      expect(nil).to have_stored('hosts/')
      expect(nil).not_to have_stored('hosts2/')
      expect(nil).not_to have_stored('app1/token/')
    end

    it 'gives global keys, and those of other environments' do
      simpkv_with({ 'a' => 1 }, global: true)
      simpkv_with({ 'a' => 2 }, environment: 'dev')
      catalog = compile('notify { "${simpkv::get(a, { global => true })[value]} ${simpkv::exists(a)}": }')
      expect(catalog.resource('Notify', '1 false')).not_to be_nil
      expect(nil).to have_stored('a', 'global' => true).with_value(1)
      expect(nil).to have_stored('a', environment: 'dev').with_value(2)
    end
  end

  # A Sensitive of rspec-puppet shows its value.
  describe 'simpkv_with, called by mistake' do
    def refused(*arguments)
      expect { simpkv_with(*arguments) }
    end

    it 'refuses a folder that is not a Hash, and shows no value' do
      refused('d/' => { 'e/' => secret('t0ken') })
        .to raise_error(ArgumentError, "the value of 'd/e/' must be a Hash of its keys")
      refused('d/' => nil).to raise_error(ArgumentError, "the value of 'd/' must be a Hash of its keys")
      refused(secret('t0ken')).to raise_error(ArgumentError, 'the keys must be in a Hash, with their values')
    end

    it 'refuses keys that are not Strings, such as options without braces before them' do
      message = "keys are Strings; put the Hash in braces before the options: simpkv_with({ 'a' => 1 }, global: true)"
      refused('app1/x' => 1, global: true).to raise_error(ArgumentError, message)
      refused('d/' => { sym: 1 }).to raise_error(ArgumentError, message)
      refused({ 'k' => 1 }, secret('t0ken')).to raise_error(ArgumentError, /the options must be a Hash/)
      expect(nil).not_to have_stored('app1/x')
    end

    # The environment was ignored.
    it 'refuses an environment of global keys' do
      wrong = /\A'global' and 'environment' exclude each other/
      refused({ 'a' => 1 }, global: true, environment: 'dev').to raise_error(ArgumentError, wrong)
      expect { have_stored('a', global: true, environment: 'dev') }.to raise_error(ArgumentError, wrong)
      simpkv_with({ 'a' => 1 }, global: false, environment: 'dev')
    end

    # The first folder of the key became the environment.
    it 'refuses what is not the name of an environment, and what is no Boolean' do
      ['', 'a/b', '.'].each do |name|
        refused({ 'a' => 1 }, environment: name).to raise_error(ArgumentError, /\A'environment' must be a name /)
      end
      refused({ 'a' => 1 }, global: 'yes').to raise_error(Simpkv::ConfigError, /'global'/)
    end
  end

  describe 'a backend of Hiera' do
    let(:hiera) do
      ldap = { 'type' => 'ldap', 'id' => 'site', 'ldap_uri' => 'ldaps://ldap.invalid', 'layout' => 'hex',
               'admin_pw_file' => '/nonexistent', 'tls_cacert' => '/nonexistent', 'case_sensitive' => true }
      { 'backends' => { 'default' => ldap, 'same' => ldap,
                        'secrets' => { 'type' => 'file', 'id' => 'site', 'root_path' => '/nonexistent/x',
                                       'audit' => { 'to' => '/nonexistent/log' },
                                       'encryption_keys' => '/nonexistent/keys', 'encrypted_only' => true } } }
    end

    it 'is replaced by a store in files, in which other options still count' do
      compile('simpkv::put("A/b", 1) simpkv::put("c", 2, {}, { backend => secrets })')
      expect(nil).to have_stored('A/b').with_value(1)
      expect(nil).to have_stored('c', backend: 'secrets').with_value(2)
      expect(nil).not_to have_stored('c')
    end

    it 'has one store under two names' do
      catalog = compile('simpkv::put("k", 1) notify { String(simpkv::get("k", { backend => same })["value"]): }')
      expect(catalog.resource('Notify', '1')).not_to be_nil
      expect(nil).to have_stored('k', backend: 'same')
    end

    it 'has one store under a name that nobody has used yet' do
      compile('simpkv::put("k", 1)')
      expect(nil).to have_stored('k', backend: 'same')
    end

    it 'is replaced for modules that call the adapter with options of their own' do
      adapter = world.call('simpkv::support::load')
      options = hiera.merge('backend' => 'default', 'environment' => 'production')
      expect(adapter.put('k', 1, {}, options)).to eq(result: true, err_msg: nil)
      expect(nil).to have_stored('k').with_value(1)
      expect(adapter.plugin_instance(options).name).to eq('file/ldap-site')
    end

    it 'is still checked' do
      expect { compile('simpkv::put("k", 1, {}, { backend => none })') }.to raise_error(/No simpkv backend 'none'/)
    end

    # `not_to have_stored` always passed, and simpkv_with made a store that no function used.
    it 'is the only one that have_stored and simpkv_with take, also before the first call' do
      wrong = [ArgumentError, "no backend 'secrts': the calls of this example have 'default', 'same', 'secrets'"]
      [-> { simpkv_with({ 'k' => 1 }, backend: 'secrts') },
       -> { expect(nil).not_to have_stored('k', backend: 'secrts') }].each do |naming|
        expect { stores.for_example { naming.call && compile('simpkv::put("k", 1)') } }.to raise_error(*wrong)
        stores.for_example do
          compile('simpkv::put("k", 1)')
          expect(&naming).to raise_error(*wrong)
        end
      end
      simpkv_with({ 'k' => 1 }, backend: 'secrets')
      compile('simpkv::put("k", 1)')
      expect(nil).to have_stored('k', backend: 'secrets')
    end

    it 'need not be named default' do
      hiera['backends'].delete('default')
      hiera['backend'] = 'same'
      expect { expect { compile('simpkv::put("k", 1)') }.not_to have_stored('k') }
        .to raise_error(ArgumentError, /no backend 'default'/)
    end

    it 'is replaced for the command and the estate, too, which read no file of the site' do
      expect(Simpkv::SiteFile.find([Dir.tmpdir])).to be_nil
      backend = Simpkv::Backend.new(hiera.merge('backend' => 'default', 'global' => true), [['/nonexistent'], []])
      expect([backend.type, backend.case_sensitive?]).to eq(['file', true])
      backend.open.put(backend.path('k'), '{"value":1}')
      expect(nil).to have_stored('k', global: true).with_value(1)
    end
  end

  it 'serves keys as resources, in catalogs that are applied' do
    simpkv_with('app1/old' => 1)
    report = world.apply(<<~PUPPET)
      simpkv_folder { 'app1': purge => true }
      simpkv_key { 'app1/token': value => Sensitive('t0ken') }
    PUPPET
    expect(report.resource_statuses.values.select(&:failed?)).to eq([])
    expect(nil).to have_stored('app1/token').with_value(secret('t0ken'))
    expect(nil).not_to have_stored('app1/old')
  end

  describe 'the store' do
    # @return [String] the folder of the store
    def root_path
      stores.redirect('backend' => 'x', 'backends' => { 'x' => { 'type' => 'file', 'id' => 'x' } })
            .dig('backends', 'x', 'root_path')
    end

    it 'is empty in each example, and gone afterwards' do
      folders = Array.new(2) do
        stores.for_example do
          expect(nil).not_to have_stored('k', backend: 'x')
          simpkv_with({ 'k' => 1 }, backend: 'x')
          expect(File).to exist("#{root_path}/environments/production/k")
          root_path
        end
      end
      expect(folders.uniq.length).to eq(2)
      expect(folders.map { |folder| File.dirname(folder) }.select { |folder| File.exist?(folder) }).to eq([])
    end

    it 'is not made for an example that does not use it' do
      world
      allow(Dir).to receive(:mktmpdir).and_call_original
      stores.for_example { nil }
      expect(Dir).not_to have_received(:mktmpdir)
    end

    it 'is below TMPDIR if that is set' do
      Dir.mktmpdir do |folder|
        allow(ENV).to receive(:[]).and_call_original
        allow(ENV).to receive(:[]).with('TMPDIR').and_return(folder)
        stores.for_example do
          simpkv_with('k' => 1)
          expect(Dir.children(folder)).to match([/\Asimpkv-rspec/])
        end
        expect(Dir.children(folder)).to eq([])
      end
    end

    it 'does not exist outside of examples' do
      expect { Simpkv::Kit::Stores.new.store('default') }.to raise_error(Simpkv::ConfigError, /only while an example/)
    end

    it 'makes rspec-puppet compile a catalog again after each use' do
      example = Class.new { define_method(:build_catalog) { |parameters| parameters } }.new
      example.extend(Simpkv::Kit::FreshCatalogs)
      parameters = { code: 'include app', ignored_cache_params: { hiera_data_value: { 'a' => 1 } } }
      before = example.build_catalog(parameters)
      expect(before).to match(code: 'include app',
                              ignored_cache_params: { hiera_data_value: { 'a' => 1 }, simpkv_uses: Integer })
      expect(example.build_catalog(parameters)).to eq(before)
      simpkv_with('k' => 1)
      expect(example.build_catalog(parameters)).not_to eq(before)
    end
  end
end
