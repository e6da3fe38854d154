# frozen_string_literal: true

require 'tmpdir'
require_relative '../../rakelib/module_files'
require_relative '../puppet_helper'
require_relative '../support/module_versions'

# spec/puppetserver/environments_spec.rb shows the same in a puppetserver.
RSpec.describe 'Two environments with two versions of the module' do
  let(:root) { Dir.mktmpdir }
  let!(:worlds) { %w[older newer].to_h { |version| [version, world(version)] } }

  after do
    worlds.each_value(&:close)
    FileUtils.remove_entry(root)
  end

  # @return [PuppetWorld] an environment that has a module of its own
  def world(version)
    backends = { 'default' => { 'type' => 'file', 'id' => 'versions', 'root_path' => root } }
    PuppetWorld.new(environment: version, hiera: { 'backends' => backends }).tap do |world|
      File.unlink(place(world))
      ModuleFiles.install(place(world))
      ModuleVersions.edit(place(world), version)
    end
  end

  # @return [String] the folder of the module
  def place(world)
    File.join(world.dir, 'modules', 'simpkv')
  end

  # @return [Object] the value of a key, in a catalog of its own
  def value(version)
    worlds[version].fresh_catalog.call('simpkv::get', 'k')['value']
  end

  it 'each run their own function, base class of functions, adapter and plugin, in alternation' do
    2.times do
      %w[older newer].each { |version| expect(value(version)).to eq(ModuleVersions.value(version)) }
    end
  end

  it 'are served by one gem; if it is too old for one of them, this one says so, and the other runs on' do
    file = File.join(place(worlds['newer']), 'lib/puppet_x/simpkv/gem_loading.rb')
    File.write(file, File.read(file).sub(/(def wanted\n *)\d+/, '\199'))
    2.times do
      expect { value('newer') }.to raise_error(LoadError, /too old for this module.*puppetserver gem install simpkv/)
      expect(value('older')).to eq(ModuleVersions.value('older'))
    end
  end

  # Puppet may load types and providers of a process from several environments.
  it 'have parts of their own, whichever version was loaded last' do
    folders = worlds.transform_values { |world| File.join(place(world), 'lib') }
    folders.each do |version, lib|
      File.write(File.join(lib, 'puppet_x/simpkv/example.rb'), "'#{version}'")
      load File.join(lib, 'puppet_x/simpkv/parts.rb')
    end
    parts = folders.transform_values { |lib| PuppetX::Simpkv.part(File.join(lib, 'puppet/type/any.rb'), 'example') }
    expect(parts).to eq('older' => 'older', 'newer' => 'newer')
  end
end

RSpec.describe "The module's code" do
  let(:files) { Dir[File.join(PuppetWorld::PROJECT, 'lib/{puppet/{functions,type,provider,feature},puppet_x}/**/*.rb')] }

  # See docs/adr/0102. `load.rb` reads the loader into the catalog, as in simpkv 1.0.0.
  it 'evaluates text in one place, and where it loads the adapter' do
    evaluating = files.select { |file| File.read(file).match?(/^[^#\n]*\b(eval|instance_eval|class_eval)\b/) }
    expect(evaluating.map { |file| File.basename(file) }).to match_array(%w[load.rb parts.rb])
  end
end
