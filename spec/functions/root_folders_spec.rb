# frozen_string_literal: true

require_relative '../puppet_helper'

RSpec.describe 'Root folders of file backends' do
  let!(:world) { PuppetWorld.new }
  let(:vardir) { File.join(world.dir, 'vardir') }
  let(:place) { File.join(vardir, 'simp', 'simpkv', 'file') }

  before { Puppet[:vardir] = vardir }
  after { world.close }

  def backend(id, root = nil)
    { 'type' => 'file', 'id' => id, 'root_path' => root }.compact
  end

  def path(name)
    File.join(world.dir, 'stores', name)
  end

  def get(options)
    world.call('simpkv::get', 'a', { 'default' => 'absent' }.merge(options))['value']
  end

  def refused(message = /\Asimpkv Configuration Error.*is inside that of another store/)
    raise_error(ArgumentError, message)
  end

  it 'are refused inside one another, and around one another, in one configuration' do
    { 'a' => 'a/b', 'a/b' => 'a', 'a/b/../c' => 'a/c/globals' }.each do |first, second|
      backends = { 'default' => backend('x', path(first)), 'other' => backend('y', path(second)) }
      %w[default other].each { |name| expect { get('backends' => backends, 'backend' => name) }.to refused }
    end
    expect(Dir.exist?(path('a'))).to be(false)
  end

  it 'are refused inside and around one that the catalog has used' do
    expect(get('backends' => { 'default' => backend('x', path('a/b')) })).to eq('absent')
    ['a', 'a/b/c', 'a/b/globals'].each do |name|
      expect { get('backends' => { 'default' => backend('y', path(name)) }) }.to refused
    end
  end

  it 'may be beside one another, and equal' do
    [path('a'), path('ab'), path('a')].each_with_index do |root, number|
      expect(get('backends' => { 'default' => backend("x#{number}", root) })).to eq('absent')
    end
  end

  it 'are refused inside a default root folder, even a missing one' do
    default = '/var/simp/simpkv/file/auto_default/globals'
    ["#{place}/site/x", "#{place}/site/environments/production", default].each do |root|
      expect { get('backends' => { 'default' => backend('x', root) }) }.to refused
    end
    expect(Dir.exist?(place)).to be(false)
  end

  it 'are refused around a default root folder with a store in it' do
    FileUtils.mkdir_p(%w[globals environments].map { |name| "#{place}/site/#{name}" })
    [place, File.dirname(place), vardir].each do |root|
      expect { get('backends' => { 'default' => backend('x', root) }) }.to refused(/'#{place}.site' is inside that of/)
    end
    expect(get('backends' => { 'default' => backend('x', "#{place}/site") })).to eq('absent')
  end

  it 'are refused around a store that exists where a new one would have its keys (which were read and written)' do
    %w[a/environments/production/inner b/globals/.x/inner c/environments].each do |inner|
      expect(get('backends' => { 'default' => backend(inner.tr('/', '-'), path(inner)) })).to eq('absent')
      world.fresh_catalog
      expect { get('backends' => { 'default' => backend('outer', path(inner[0])) }) }
        .to refused(/'#{path(inner)}' is inside that of another store, '#{path(inner[0])}'/)
      expect(Dir.children(path(inner[0])).length).to eq(1)
    end
  end

  it "may be in folders with the names of a store's folders" do
    FileUtils.mkdir_p(path('code/environments/production'))
    expect(get('backends' => { 'default' => backend('x', path('code/environments/production/data')) })).to eq('absent')
    expect(get('backends' => { 'default' => backend('y', path('globals/data')) })).to eq('absent')
  end

  it 'are refused with a default id that has a slash' do
    expect { get('backends' => { 'default' => backend('auto_default/environments/production') }) }
      .to refused(/'id' of simpkv backend 'default' must be a name: a String without '.'/)
  end
end
