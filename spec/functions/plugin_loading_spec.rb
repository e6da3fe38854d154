# frozen_string_literal: true

require_relative '../puppet_helper'

RSpec.describe 'Loading of plugins' do
  let!(:world) { PuppetWorld.new }
  let(:template) { File.read(File.join(PuppetWorld::PROJECT, 'lib', 'puppet_x', 'simpkv', 'plugin_template.rb')) }

  after do
    world.close
    MemoryStore.clear
  end

  def acme
    { 'backends' => { 'default' => { 'type' => 'acme', 'id' => 'x' } } }
  end

  it 'takes the type from the name of the file, from any module' do
    file = world.add_plugin('zed', 'acme', template)
    expect(world.adapter.backends).to eq(%w[acme file ldap memory])
    expect(world.adapter.plugin_info['acme'][:source]).to eq(file)
    expect(world.call('simpkv::put', 'a', 1, {}, acme)).to be(true)
    expect(world.call('simpkv::get', 'a', acme)).to eq('value' => 1)
  end

  it 'does not take the template for a plugin' do
    expect(world.adapter.backends).to eq(%w[file ldap memory])
    expect(world.warnings).to eq([])
  end

  it 'takes the first of a type by path, and warns of the others' do
    second = world.add_plugin('beta', 'acme', template)
    first = world.add_plugin('alpha', 'acme', template)
    third = world.add_plugin('alpha', 'acme', template, folder: 'more')
    expect(world.adapter.plugin_info['acme'][:source]).to eq(first)
    expect(world.warnings).to match([/\ASkipping load of simpkv plugin from #{second}: /,
                                     /\ASkipping load of simpkv plugin from #{third}: /])
  end

  it 'prefers the neighbours of our own module to what comes earlier in the modulepath' do
    # The module of this world is in `modules`; here `more` comes first.
    neighbour = world.add_plugin('zed', 'acme', template)
    other = world.add_plugin('alpha', 'acme', template, folder: 'more')
    folders = %w[more modules].map { |folder| File.join(world.dir, folder) }
    environment = Puppet::Node::Environment.create(:production, folders)
    allow(world).to receive(:environment).and_return(environment)
    expect(world.adapter.plugin_info['acme'][:source]).to eq(neighbour)
    expect(world.warnings).to match([/\ASkipping load of simpkv plugin from #{other}: /])
  end

  it 'warns once a catalog' do
    world.add_plugin('alpha', 'acme', template)
    world.add_plugin('beta', 'acme', template)
    3.times { world.call('simpkv::exists', 'a', acme) }
    expect(world.warnings.size).to eq(1)
    world.fresh_catalog.call('simpkv::exists', 'a', acme)
    expect(world.warnings.size).to eq(2)
  end

  # DEFECTS 21.
  {
    'requires a missing gem' => "require 'no_such_gem_anywhere'",
    'is no Ruby' => 'plugin_class = Class.new do',
    'raises' => "raise 'broken'",
    'has a wrong name in it' => 'plugin_class = NoSuchConstant',
    'makes no class' => 'something = Class.new',
    'ends the process' => 'exit 1',
    'is not implemented' => 'raise NotImplementedError'
  }.each do |what, source|
    it "survives, with a warning, a plugin that #{what} (every simpkv call failed)" do
      file = world.add_plugin('broken', 'acme', source)
      expect(world.adapter.backends).to eq(%w[file ldap memory])
      expect(world.warnings).to match([/\Asimpkv plugin from #{file} failed to load: ./])
      memory = { 'backends' => { 'default' => { 'type' => 'memory', 'id' => 'x' } } }
      expect(world.call('simpkv::put', 'a', 1, {}, memory)).to be(true)
      expect do
        world.call('simpkv::get', 'a', acme)
      end.to raise_error(ArgumentError, /simpkv backend plugin 'acme' not available/)
    end
  end

  it 'takes a later plugin of the type when the first one fails' do
    world.add_plugin('alpha', 'acme', 'raise "broken"')
    good = world.add_plugin('beta', 'acme', template)
    expect(world.adapter.plugin_info['acme'][:source]).to eq(good)
  end

  it 'makes the class once for an environment, and anew when the file has changed' do
    file = world.add_plugin('zed', 'acme', template)
    first = world.adapter.plugin_info['acme'][:class]
    expect(world.fresh_catalog.adapter.plugin_info['acme'][:class]).to equal(first)
    File.write(file, "#{template}\n")
    expect(world.fresh_catalog.adapter.plugin_info['acme'][:class]).not_to equal(first)
  end

  it 'makes other classes in another environment' do
    first = world.adapter.plugin_info['file'][:class]
    expect(world.fresh_environment.adapter.plugin_info['file'][:class]).not_to equal(first)
  end

  it 'works for an adapter that is made by hand, as other modules do in their tests' do
    file = File.join(PuppetWorld::PROJECT, 'lib', 'puppet_x', 'simpkv', 'simpkv.rb')
    simp_simpkv_adapter_class = nil
    Object.new.instance_eval(File.read(file), file)
    world.inside { expect(simp_simpkv_adapter_class.new.backends).to include('file', 'memory') }
  end
end
