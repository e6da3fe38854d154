# frozen_string_literal: true

require_relative '../puppet_helper'
require 'puppet_pal'

RSpec.describe 'Where there is no catalog' do
  let!(:world) { PuppetWorld.new }
  let(:root) { File.join(world.dir, 'store') }
  let(:backends) { "{ 'backends' => { 'default' => { 'type' => 'file', 'id' => 'x', 'root_path' => '#{root}' } } }" }

  after { world.close }

  it 'works in a script, with one adapter for the whole script' do
    modules = File.join(world.dir, 'modules')
    found = Puppet::Pal.in_tmp_environment('scripts', modulepath: [modules], facts: {}) do |pal|
      pal.with_script_compiler do |compiler|
        compiler.evaluate_string("simpkv::put('a/b', 'é', {}, #{backends})")
        compiler.evaluate_string("[simpkv::get('a/b', #{backends}), simpkv::list('/', #{backends}), " \
                                 'simpkv::support::load() == simpkv::support::load()]')
      end
    end
    expect(found).to eq([{ 'value' => 'é' }, { 'keys' => {}, 'folders' => ['a'] }, true])
    expect(File.file?(File.join(root, 'environments', 'scripts', 'a', 'b'))).to be(true)
  end

  it 'fails with a clear error without a compiler' do
    function = world.inside do |compiler|
      compiler.loaders.private_environment_loader.load(:function, 'simpkv::get')
    end
    expect { function.call({}, 'k') }.to raise_error(Puppet::Error, /can only be called where there is a compiler/)
  end
end
