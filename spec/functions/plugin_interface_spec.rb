# frozen_string_literal: true

require_relative '../puppet_helper'

# Tests the calls that a third-party plugin receives.
RSpec.describe 'A plugin' do
  let(:site) { { 'backends' => { 'default' => { 'type' => 'acme', 'id' => 'x', 'own' => [1] } } } }
  let!(:world) { PuppetWorld.new(hiera: site) }
  let(:log) { File.join(world.dir, 'calls') }

  before do
    world.add_plugin('zed', 'acme', <<-RUBY)
      plugin_class = Class.new do
        attr_reader :name
        def initialize(name)
          @name = name
          note('new', [name])
        end

        def configure(options)
          note('configure', [options])
          { result: true, err_msg: nil }
        end

        def note(method, arguments)
          File.open('#{log}', 'ab') { |file| file.puts(JSON.generate([method, *arguments])) }
        end

        answers = { 'get' => '{"value":"v"}', 'list' => { keys: { 'k' => '{"value":"v"}' }, folders: ['f'] } }
        %w[delete deletetree exists get list put].each do |operation|
          define_method(operation) do |*arguments|
            note(operation, arguments)
            { result: answers.fetch(operation, true), err_msg: nil }
          end
        end
      end
    RUBY
  end

  after { world.close }

  # Adds another plugin, whose list runs this code. @return [Hash] options with it as backend
  def plugin_that_lists(code)
    world.add_plugin('zed', 'lister', <<-RUBY)
      plugin_class = Class.new do
        attr_reader :name
        def initialize(name)
          @name = name
        end

        def configure(_options)
          { result: true, err_msg: nil }
        end

        def list(_keydir)
          found = { keys: {}, folders: [] }
          #{code}
          { result: found, err_msg: nil }
        end
      end
    RUBY
    { 'backends' => { 'default' => { 'type' => 'lister', 'id' => 'x' } } }
  end

  def calls
    File.readlines(log, encoding: 'UTF-8').map { |line| JSON.parse(line) }
  end

  it 'is created with <type>/<id>, receives all merged options, and then paths' do
    world.call('simpkv::put', 'a//b/', 'é', { 'm' => 1 }, { 'softfail' => true })
    world.call('simpkv::get', '/a/b')
    world.call('simpkv::list', 'a')
    world.call('simpkv::exists', '/')
    world.call('simpkv::delete', 'a/b', { 'global' => true })
    world.call('simpkv::deletetree', '/', { 'global' => true })
    expect(calls.first(2)).to match(
      [%w[new acme/x],
       ['configure', site.merge('backend' => 'default', 'environment' => 'production', 'global' => false,
                                'softfail' => true)]]
    )
    expect(calls.drop(2)).to eq(
      [%w[exists environments/production/a/b], %w[get environments/production/a/b],
       ['put', 'environments/production/a/b', '{"value":"é","metadata":{"m":1}}'],
       %w[get environments/production/a/b], %w[list environments/production/a], %w[exists environments/production],
       %w[delete globals/a/b], %w[deletetree globals]]
    )
  end

  it 'does not tell when a key was changed' do
    require 'simpkv/adapter'
    layer = Simpkv::Layer.new(Simpkv::Adapter::PluginStore.new(Object.new))
    expect { layer.stat('globals/k', document: true) }.to raise_error(Simpkv::Error, /plugin does not tell when/)
  end

  it 'has its keys and folders in the list' do
    expect(world.call('simpkv::list', 'a')).to eq('keys' => { 'k' => { 'value' => 'v' } }, 'folders' => ['f'])
  end

  it 'is created once for each type and id of a catalog' do
    2.times { world.call('simpkv::get', 'a') }
    world.call('simpkv::get', 'a', { 'backends' => { 'default' => { 'id' => 'y' } } })
    expect(calls.select { |method,| method == 'new' }).to eq([%w[new acme/x], %w[new acme/y]])
    world.fresh_catalog.call('simpkv::get', 'a')
    expect(calls.count { |method,| method == 'new' }).to eq(3)
  end

  it 'is not created before its first use, nor for a key that is refused' do
    world.adapter
    expect { world.call('simpkv::get', '..') }.to raise_error(ArgumentError)
    expect { world.call('simpkv::get', 'a', { 'backend' => 'none' }) }.to raise_error(ArgumentError)
    expect(File.exist?(log)).to be(false)
  end

  it 'has another class in another environment' do
    world.call('simpkv::get', 'a')
    other = PuppetWorld.new(environment: 'dev', hiera: site)
    source = File.read(File.join(PuppetWorld::PROJECT, 'lib', 'puppet_x', 'simpkv', 'plugin_template.rb'))
    other.add_plugin('zed', 'acme', source)
    expect { other.call('simpkv::get', 'a') }.to raise_error(RuntimeError, /Key not found/)
    expect(world.call('simpkv::get', 'a')).to eq('value' => 'v')
    expect(other.adapter.plugin_info['acme'][:class]).not_to equal(world.adapter.plugin_info['acme'][:class])
  ensure
    other&.close
  end

  it 'hides later plugins of its type, with the warning of the contract' do
    second = world.add_plugin('zulu', 'acme', 'raise "not reached"')
    expect(world.adapter.backends).to include('acme')
    expect(world.warnings).to match([/\ASkipping load of simpkv plugin from #{second}: \S/])
  end

  it 'may yield all or some of the listed documents' do
    options = plugin_that_lists(<<-RUBY)
      found[:keys] = { 'b' => 'not looked at', 'a' => '{"value":1}', 'c' => nil }
      yield 'c', '{"value":3}'
      yield 'b', '{"value":2}'
      yield 'b', '{"value":"the last counts"}'
      yield 'gone', '{"value":4}'
    RUBY
    expect(world.call('simpkv::list', 'f', options)['keys'].to_a).to eq(
      [['a', { 'value' => 1 }], ['b', { 'value' => 'the last counts' }], ['c', { 'value' => 3 }]]
    )
  end

  it 'receives the same errors for yielded documents as for returned ones' do
    options = plugin_that_lists(<<-RUBY)
      found[:keys] = { 'b' => nil, 'a' => nil, 'good' => nil }
      found[:keys].each_key { |name| yield name, name == 'good' ? '{"value":1}' : 'h4sh' }
    RUBY
    expect { world.call('simpkv::list', 'f', options) }
      .to raise_error(RuntimeError, %r{simpkv lister/x Error: Key 'f/a': Failed to deserialize: JSON parse error})
    options['skip_undecodable'] = true
    expect(world.call('simpkv::list', 'f', options)['keys']).to eq('good' => { 'value' => 1 })
    expect(world.warnings).to match([%r{leaves out key 'f/a'}, %r{leaves out key 'f/b'}])
  end
end
