# frozen_string_literal: true

require_relative '../puppet_helper'

RSpec.describe 'Failures of plugins' do
  let!(:world) { PuppetWorld.new }
  let(:options) { { 'backends' => { 'default' => { 'type' => 'acme', 'id' => 'x' } } } }

  after { world.close }

  # A plugin with these bodies of methods.
  def plugin(bodies)
    methods = { 'configure' => '{ result: true, err_msg: nil }' }.merge(bodies).map do |name, body|
      "def #{name}#{'(*arguments)' unless name == 'name'}\n#{body}\nend"
    end
    world.add_plugin('alpha', 'acme', <<-RUBY)
      plugin_class = Class.new do
        attr_reader :name
        def initialize(name)
          @name = name
        end
        #{methods.join("\n")}
      end
    RUBY
  end

  def get(more = {})
    world.call('simpkv::get', 'a', options.merge(more))
  end

  {
    'Integer("s3cret")' => 'ArgumentError', '{}.fetch("s3cret")' => 'KeyError', '"s3cret" + 1' => 'TypeError',
    'throw "s3cret"' => 'UncaughtThrowError', '"s3cret".oops' => 'NoMethodError', '[0].first("s3cret")' => 'TypeError',
    'JSON.parse("s3cret")' => 'JSON::ParserError', '"s3cret\xff".encode("UTF-16")' => 'Encoding::InvalidByteSequenceError'
  }.each do |body, name|
    it "do not show the value that #{name} quotes: #{body}" do
      plugin('get' => body)
      expect { get }.to raise_error(RuntimeError, %r{simpkv acme/x Error: #{name} at .*alpha}) do |error|
        expect(error.message).not_to include('s3cret')
      end
    end
  end

  it 'are told in their own words when they are a RuntimeError' do
    plugin('get' => 'raise "the acme server is down"')
    expect { get }.to raise_error(RuntimeError, %r{simpkv acme/x Error: the acme server is down})
  end

  ['raise Exception, "boom"', 'exit 3', 'def deep; deep; end; deep'].each do |body|
    it "are softened whatever is raised: #{body}" do
      plugin('get' => body)
      expect { get }.to raise_error(RuntimeError, %r{simpkv acme/x Error:})
      expect(get('softfail' => true)).to be_nil
      expect(world.warnings.last).to include('simpkv acme/x Error:')
    end

    it "break nothing else while a plugin is loaded: #{body}" do
      file = world.add_plugin('alpha', 'acme', body)
      expect(world.adapter.backends).to eq(%w[file ldap memory])
      expect(world.warnings).to match([/\Asimpkv plugin from #{file} failed to load: /])
    end
  end

  it 'say which method a plugin lacks' do
    plugin('get' => 'nil')
    expect { world.call('simpkv::delete', 'a', options) }
      .to raise_error(RuntimeError, %r{simpkv acme/x Error: the plugin has no method 'delete'})
  end

  it 'say that a list has names that are no Strings' do
    plugin('list' => '{ result: { keys: { a: "{}" }, folders: [] }, err_msg: nil }')
    expect { world.call('simpkv::list', 'a', options) }
      .to raise_error(RuntimeError, %r{simpkv acme/x Error: list answered no result and no reason})
  end

  it 'are none when the reason is empty' do
    plugin('get' => %q({ result: '{"value":1}', err_msg: '' }))
    expect(get).to eq('value' => 1)
  end

  it 'are none when configure neither raises nor says that it failed' do
    plugin('configure' => 'nil', 'get' => %q({ result: '{"value":1}', err_msg: nil }))
    expect(get).to eq('value' => 1)
  end

  it 'to be configured keep their reason, which may name an option' do
    plugin('configure' => 'raise ArgumentError, "acme_uri is missing"')
    expect { get }.to raise_error(RuntimeError, %r{simpkv Error: Unable to construct 'acme/x': acme_uri is missing})
  end
end
