# frozen_string_literal: true

require 'java' if RUBY_ENGINE == 'jruby'
require 'weakref'
require_relative '../puppet_helper'
require_relative '../support/eventually'

RSpec.describe 'Loading of plugins' do
  include Eventually

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

  it 'does not load the template as a plugin' do
    expect(world.adapter.backends).to eq(%w[file ldap memory])
    expect(world.warnings).to eq([])
  end

  it 'uses the first of a type by path, and warns of the others' do
    second = world.add_plugin('beta', 'acme', template)
    first = world.add_plugin('alpha', 'acme', template)
    third = world.add_plugin('alpha', 'acme', template, folder: 'more')
    expect(world.adapter.plugin_info['acme'][:source]).to eq(first)
    expect(world.warnings).to match([/\ASkipping load of simpkv plugin from #{second}: /,
                                     /\ASkipping load of simpkv plugin from #{third}: /])
  end

  it 'prefers modules beside our own to earlier folders of the modulepath' do
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

  {
    'requires a missing gem' => "require 'no_such_gem_anywhere'",
    'is no Ruby' => 'plugin_class = Class.new do',
    'raises' => "raise 'broken'",
    'has a wrong name in it' => 'plugin_class = NoSuchConstant',
    'makes no class' => 'something = Class.new',
    'raises what is no StandardError' => "raise Exception, 'broken'",
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

  it 'uses a later plugin of the type if the first one fails' do
    world.add_plugin('alpha', 'acme', 'raise "broken"')
    good = world.add_plugin('beta', 'acme', template)
    expect(world.adapter.plugin_info['acme'][:source]).to eq(good)
  end

  def classes
    adapter = world.adapter
    [adapter.class, *adapter.plugin_info.values.map { |info| info[:class] }]
  end

  it 'reads plugins and adapter once for each environment object' do
    file = world.add_plugin('zed', 'acme', template)
    first = classes
    File.write(file, "#{template}plugin_class = nil\n")
    world.fresh_catalog
    expect(classes).to eq(first)
    world.fresh_environment
    expect(classes & first).to eq([])
    expect(world.adapter.backends).to eq(%w[file ldap memory])
  end

  # JRuby's GC.start does nothing.
  def collect_garbage
    RUBY_ENGINE == 'jruby' ? Java::JavaLang::System.gc : GC.start
  end

  # A collector that looks at the stack for what may be references keeps some.
  def expect_most_gone(references)
    eventually { collect_garbage || references.count(&:weakref_alive?) <= references.size / 4 }
  end

  it 'keeps no environment alive that Puppet has dropped' do
    expect_most_gone(Array.new(20) do
      world.fresh_environment.adapter
      WeakRef.new(world.environment)
    end)
  end

  it 'keeps no catalog alive in the environment that it was made in' do
    expect_most_gone(Array.new(20) do
      world.fresh_catalog.adapter
      world.inside { |compiler| WeakRef.new(compiler.catalog) }
    end)
  end

  it 'keeps the constants of a plugin to itself, and to this environment' do
    limits = [1, 2].map do |limit|
      world.add_plugin('zed', 'acme', "LIMIT = #{limit}\nclass Helper\nend\n" \
                                      "#{template}plugin_class.define_method(:limit) { [LIMIT, Helper] }\n")
      plugin = world.fresh_environment.adapter.plugin_info['acme'][:class].new('acme/x')
      -> { plugin.limit }
    end
    expect(limits.map { |limit| limit.call.first }).to eq([1, 2])
    expect(limits.map { |limit| limit.call.last }.uniq.size).to eq(2)
    expect([Object.const_defined?(:LIMIT), Object.const_defined?(:Helper)]).to eq([false, false])
  end

  it 'works for an adapter that a test of another module makes' do
    file = File.join(PuppetWorld::PROJECT, 'lib', 'puppet_x', 'simpkv', 'simpkv.rb')
    simp_simpkv_adapter_class = nil
    Object.new.instance_eval(File.read(file), file)
    world.inside { expect(simp_simpkv_adapter_class.new.backends).to include('file', 'memory') }
  end
end
