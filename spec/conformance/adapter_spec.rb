# frozen_string_literal: true

require_relative 'conformance_helper'

Conformance.describe "The adapter's public names" do
  let(:adapter) { world.adapter }
  let(:options) { merged }

  it 'return the same adapter for a catalog, and another one for another catalog' do
    first = world.adapter
    put('a', 1)
    expect(world.adapter).to equal(first)
    world.fresh_catalog
    expect(world.adapter).not_to equal(first)
  end

  it 'list the plugins' do
    expect(adapter.backends).to eq(['file', 'ldap', 'memory', entry['type']].uniq.sort)
    expect(adapter.plugin_info.keys).to match_array(adapter.backends)
    info = adapter.plugin_info[entry['type']]
    expect(info[:class]).to be_a(Class)
    expect(info[:class].name).to be_nil
    expect(info[:source]).to end_with("/lib/puppet_x/simpkv/#{entry['type']}_plugin.rb")
  end

  it 'return one plugin for each type and id, which is created on first use' do
    expect(adapter.plugin_instances).to be_empty
    plugin = adapter.plugin_instance(options)
    expect(plugin.name).to eq("#{entry['type']}/conformance")
    expect(adapter.plugin_instance(merged('softfail' => true))).to equal(plugin)
    expect(adapter.plugin_instances).to eq("#{entry['type']}/conformance" => plugin)
  end

  it 'return the same plugin for frozen options, but only after it has been configured' do
    frozen = Simpkv::Config.frozen(options)
    plugin = adapter.plugin_instance(frozen)
    2.times { expect(adapter.plugin_instance(frozen)).to equal(plugin) }
    expect(adapter.plugin_instance(options)).to equal(plugin)
    wrong = Simpkv::Config.frozen('backend' => 'b', 'backends' => { 'b' => { 'type' => 'file', 'id' => 'w',
                                                                             'root_path' => '/dev/null' } })
    2.times { expect { adapter.plugin_instance(wrong) }.to raise_error(RuntimeError, /Unable to construct/) }
  end

  it 'store, read, list and delete' do
    expect(adapter.put('a/b', { 'x' => 'é' }, { 'm' => 1 }, options)).to eq(result: true, err_msg: nil)
    expect(adapter.get('a/b', options)).to eq(result: { value: { 'x' => 'é' }, metadata: { 'm' => 1 } }, err_msg: nil)
    expect(adapter.exists('a/b', options)).to eq(result: true, err_msg: nil)
    expect(adapter.exists('a/c', options)).to eq(result: false, err_msg: nil)
    expect(adapter.list('a', options)).to eq(
      result: { keys: { 'b' => { value: { 'x' => 'é' }, metadata: { 'm' => 1 } } }, folders: [] }, err_msg: nil
    )
    expect(adapter.delete('a/b', options)).to eq(result: true, err_msg: nil)
    expect(adapter.deletetree('a', options)).to eq(result: true, err_msg: nil)
    expect(adapter.exists('a', options)).to eq(result: false, err_msg: nil)
  end

  it 'return the reason of a failure' do
    prefix = "simpkv #{entry['type']}/conformance Error: "
    expect(adapter.get('missing', options)).to match(result: nil, err_msg: /\A#{prefix}.*Key not found/)
    expect(adapter.list('missing', options)).to match(result: nil, err_msg: /\A#{prefix}.*Key folder '.*' not found/)
    adapter.put('a/b', 1, {}, options)
    expect(adapter.delete('a', options)).to match(result: false, err_msg: /\A#{prefix}/)
    expect(adapter.deletetree('a/b', options)).to match(result: false, err_msg: /\A#{prefix}/)
    failed = { result: false, err_msg: /\A#{prefix}/ }
    expect(adapter.put('a', 1, {}, options)).to match(trait?(:shares_names) ? { result: true, err_msg: nil } : failed)
  end

  it 'return a reason for a backend that is not configured' do
    [{}, { 'backend' => 'x', 'backends' => {} },
     { 'backend' => 'x', 'backends' => { 'x' => { 'type' => 'file' } } },
     { 'backend' => 'x', 'backends' => { 'x' => { 'type' => 'nosuch', 'id' => 'x' } } }].each do |wrong|
      expect(adapter.get('a', wrong)).to match(result: nil, err_msg: /\AMalformed backend config/)
    end
  end
end
