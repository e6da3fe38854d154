# frozen_string_literal: true

require_relative '../conformance/conformance_helper'
require_relative '../support/clock'

# The options for expiry and history. The conformance suite has what they do on each backend.
RSpec.describe 'The options for expiry and history' do
  include Clock

  memory = Conformance::BACKENDS.find { |backend| backend.name.start_with?('memory') }
  include_context 'with a backend', memory

  before { clock_at('2026-11-23T15:00:00Z') }

  def versions(key)
    [0, -1, -2].map { |version| get(key, { 'version' => version, 'default' => nil })['value'] }
  end

  def backend_with(options)
    { 'backends' => { 'default' => options } }
  end

  {
    'expires_after' => [['soon', 0, -1, '0d', '1w', '1.5h', [], true, ''], /a number of seconds, more than 0, or/],
    'history' => [[-1, 101, '5 values', 1.5, [5]], /a whole number from 0 to 100/]
  }.each do |option, (values, why)|
    it "refuse a wrong #{option}" do
      values.each do |value|
        { 'put' => ['k', 1, {}], 'put_many' => [{ 'k' => { 'value' => 1 } }], 'get_or_create' => ['k', 1, {}],
          'compare_and_put' => ['k', nil, 1, {}] }.each do |function, arguments|
          expect { public_send(function, *arguments, { option => value }) }
            .to raise_error(ArgumentError, /Configuration Error.*'#{option}' in simpkv configuration must be #{why}/)
        end
      end
      expect(exists('k')).to be(false)
    end
  end

  it 'refuse a wrong history of a backend' do
    expect { put('k', 1, {}, backend_with('history' => 101)) }
      .to raise_error(ArgumentError, /'history' of simpkv backend 'default' must be a whole number from 0 to 100/)
  end

  it 'refuse a wrong version, and what to do with an expired key' do
    put('k', 1, {}, { 'expires_after' => 1 })
    clock_at('2026-11-24T15:00:00Z')
    expect { get('k', { 'version' => -101 }) }.to raise_error(ArgumentError, /'version' .* -100 to 0/)
    expect { get('k', { 'expired' => 'yes' }) }
      .to raise_error(ArgumentError, /'expired' .* must be a String, absent, warn or return/)
  end

  it 'take the units of time' do
    { 90 => '15:01:30', '90' => '15:01:30', '90s' => '15:01:30', '2m' => '15:02:00', '1h' => '16:00:00' }
      .each do |time, expected|
      put('k', time.to_s, {}, { 'expires_after' => time })
      expect(stored_bytes('k')).to include(%("expires":"2026-11-23T#{expected}Z"))
    end
  end

  it 'refuse a time after the year 9999, and store nothing' do
    expect { put('k', 'hush', {}, { 'expires_after' => '9000y' }) }
      .to raise_error(RuntimeError, /'expires_after' is too long: .* after the year 9999/)
    expect(exists('k')).to be(false)
  end

  it 'may be set for all calls in Hiera; a call overrides them' do
    world.hiera = site.merge('history' => 1, 'expires_after' => '1d', 'expired' => 'return')
    world.fresh_catalog
    [1, 2, 3].each { |value| put('k', value) }
    expect(versions('k')).to eq([3, 2, nil])
    clock_at('2026-12-23T15:00:00Z')
    expect(get('k')).to eq('value' => 3)
    expect { get('k', { 'expired' => 'absent' }) }.to raise_error(RuntimeError, /'k' has expired/)
    # Options for readers do not keep an expired value alive.
    expect(get_or_create('k', 4)).to eq('value' => 4)
    expect(compare_and_put('k', 4, 5, {}, { 'history' => 2 })).to be(true)
    expect(versions('k')).to eq([5, 4, 3])
  end

  it 'let a backend have another history in another call of the catalog, as it is the same store' do
    [1, 2, 3].each { |value| put('k', value, {}, backend_with('history' => value)) }
    expect(versions('k')).to eq([3, 2, 1])
    same = { 'other' => entry.merge('history' => 5) }
    put('k', 4, {}, { 'backends' => same, 'backend' => 'other' })
    expect(versions('k')).to eq([4, 3, 2])
    expect(world.warnings).to eq([])
  end

  it 'apply to the calls of other modules through the adapter' do
    options = world.call('simpkv::support::config::merge', { 'expires_after' => 60, 'history' => 1 }, %w[memory])
    [1, 2].each { |value| expect(world.adapter.put('k', value, {}, options)).to eq(result: true, err_msg: nil) }
    expect(world.adapter.get('k', options)).to eq(result: { value: 2, metadata: {} }, err_msg: nil)
    clock_at('2026-11-23T15:02:00Z')
    expect(world.adapter.exists('k', options)[:result]).to be(false)
    expect(world.adapter.get('k', options)).to match(result: nil, err_msg: /Key not found: 'k' has expired/)
    expect(world.adapter.list('/', options)[:result]).to eq(keys: {}, folders: [])
    expect(world.adapter.deserialize(stored_bytes('k'))).to eq(value: 2, metadata: {})
  end

  it 'soften an expired key with softfail' do
    put('k', 1, {}, { 'expires_after' => 60 })
    clock_at('2026-11-23T15:02:00Z')
    expect(get('k', { 'softfail' => true })).to be_nil
    expect(world.warnings).to match([/'k' has expired/])
  end

  it 'work with a plugin that has the methods of simpkv 1.0.0 alone' do
    template = File.join(PuppetWorld::PROJECT, 'spec/support/modules/thirdparty/lib/puppet_x/simpkv/memory_plugin.rb')
    optional = %i[list_partial fetch fetch_latest put_new exchange get_many put_many tree list_present tree_present]
    world.add_plugin('zed', 'basic', <<~RUBY)
      parent = lambda do
        plugin_class = nil
        Object.new.instance_eval(File.read('#{template}'), '#{template}')
        plugin_class
      end.call
      plugin_class = Class.new(parent) { #{optional}.each { |name| undef_method(name) if method_defined?(name) } }
    RUBY
    options = { 'backends' => { 'default' => { 'type' => 'basic', 'id' => 'x', 'history' => 3 } } }
    put('f/k', 1, {}, options.merge('expires_after' => 60))
    put_many({ 'f/k' => { 'value' => 2 }, 'f/l' => { 'value' => 3 } }, options.merge('expires_after' => 60))
    clock_at('2026-11-23T15:02:00Z')
    expect([exists('f/k', options), exists('f', options)]).to eq([false, true])
    expect(get_or_create('f/k', 4, {}, options)).to eq('value' => 4)
    expect(get('f/k', options.merge('version' => -2))).to eq('value' => 1)
    expect([list('f', options), tree('/', options)].map { |listed| listed['keys'].values })
      .to eq([[{ 'value' => 4 }]] * 2)
  end
end
