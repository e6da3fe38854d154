# frozen_string_literal: true

require_relative '../puppet_helper'
require 'open3'
require 'puppet_pal'

RSpec.describe 'Where there is no catalog' do
  let!(:world) { PuppetWorld.new }
  let(:root) { File.join(world.dir, 'store') }
  let(:backends) { "{ 'backends' => { 'default' => { 'type' => 'file', 'id' => 'x', 'root_path' => '#{root}' } } }" }

  after { world.close }

  it 'works in a script, with one adapter for all of it' do
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

  it 'works in a Deferred', :thorough do
    FileUtils.mkdir_p(File.join(root, 'environments', 'production'))
    File.write(File.join(root, 'environments', 'production', 'k'), '{"value":"from the store","metadata":{}}')
    target = File.join(world.dir, 'target')
    manifest = File.join(world.dir, 'deferred.pp')
    File.write(manifest, <<-PUPPET)
      file { '#{target}': content => Deferred('dig', [Deferred('simpkv::get', ['k', #{backends}]), 'value']) }
    PUPPET
    expect(apply(manifest)).to include('Applied catalog')
    expect(File.read(target)).to eq('from the store')
  end

  it 'says so, in one sentence, where there is no compiler either' do
    function = world.inside do |compiler|
      compiler.loaders.private_environment_loader.load(:function, 'simpkv::get')
    end
    expect { function.call({}, 'k') }.to raise_error(Puppet::Error, /can only be called where there is a compiler/)
  end

  def apply(manifest)
    puppet = 'require "puppet/util/command_line"; Puppet::Util::CommandLine.new("puppet", ARGV).execute'
    # Else it makes some of its folders elsewhere on the machine.
    folders = { modulepath: 'modules', confdir: 'conf', codedir: 'code', vardir: 'vardir', publicdir: 'public',
                rundir: 'run', logdir: 'log' }
    settings = folders.flat_map { |name, folder| ["--#{name}", File.join(world.dir, folder)] }
    command = [RbConfig.ruby, *$LOAD_PATH.map { |folder| "-I#{folder}" }, '-e', puppet, 'apply', '--color=false',
               *settings, manifest]
    output, = Open3.capture2e(*command)
    output
  end
end
