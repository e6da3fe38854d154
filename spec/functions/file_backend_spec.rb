# frozen_string_literal: true

require_relative '../puppet_helper'

# Tests the file backend, and its failures, through the functions.
RSpec.describe 'Keys in files' do
  let(:backend) { { 'type' => 'file', 'id' => 'x', 'root_path' => root, 'lock_timeout_seconds' => 0.2 } }
  let!(:world) { PuppetWorld.new(hiera: { 'backends' => { 'default' => backend } }) }
  let(:scratch) { Dir.mktmpdir('simpkv-files') }
  let(:root) { File.join(scratch, 'root') }

  after do
    world.close
    FileUtils.remove_entry(scratch)
  end

  PuppetWorld::FUNCTIONS.each_key do |function|
    define_method(function) { |*arguments| world.call("simpkv::#{function}", *arguments) }
  end

  def path(name)
    File.join(root, name)
  end

  # Returns the modes of all files and folders below the root, by name.
  def modes
    Dir.glob(path('**/*')).to_h do |file|
      [file.delete_prefix("#{root}/"), format('%04o', File.stat(file).mode & 0o7777)]
    end
  end

  def with_umask(mask)
    before = File.umask(mask)
    yield
  ensure
    File.umask(before)
  end

  # Locks a key's file as another program does.
  def with_lock(name)
    File.open(path(name), 'r+') do |file|
      file.flock(File::LOCK_EX)
      yield
    end
  end

  [0o000, 0o022, 0o077].each do |mask|
    it "are files of mode 0660 in folders of mode 0770, one for each key, under umask #{format('%03o', mask)}" do
      with_umask(mask) do
        put('app/key', 1)
        put('global', 2, {}, { 'global' => true })
      end
      expect(modes).to eq('environments' => '0770', 'environments/production' => '0770',
                          'environments/production/app' => '0770', 'environments/production/app/key' => '0660',
                          'globals' => '0770', 'globals/global' => '0660')
      expect(format('%04o', File.stat(root).mode & 0o7777)).to eq('0770')
      expect(File.binread(path('environments/production/app/key'))).to eq('{"value":1,"metadata":{}}')
    end
  end

  it 'are listed with any name, even one that put refuses' do
    put('odd/usual', 1)
    ['UPPER', 'with space', 'Ωμέγα', '.hidden', "new\nline", 'a*b'].each do |name|
      File.write(path("environments/production/odd/#{name}"), '{"value":"odd"}')
    end
    Dir.mkdir(path('environments/production/odd/Folder X'))
    found = list('odd')
    expect(found['keys'].keys).to match_array(['usual', 'UPPER', 'with space', 'Ωμέγα', '.hidden', "new\nline", 'a*b'])
    expect(found['keys']['Ωμέγα']).to eq('value' => 'odd')
    expect(found['folders']).to eq(['Folder X'])
  end

  describe 'that another program has locked' do
    before do
      put('l/free', 1)
      put('l/locked', 2)
    end

    it 'make get and put fail and name the file, with softfail as a warning' do
      file = path('environments/production/l/locked')
      message = "simpkv file/x Error: Timed out waiting for lock of key file '#{file}'"
      with_lock('environments/production/l/locked') do
        expect { get('l/locked') }.to raise_error(RuntimeError, /\A.* with key='l.locked': #{message}\z/)
        expect { put('l/locked', 3) }.to raise_error(RuntimeError, /\A.* with key='l.locked': #{message}\z/)
        expect(get('l/locked', { 'softfail' => true })).to be_nil
        expect(world.warnings).to match([/#{message}\z/])
      end
      expect(get('l/locked')).to eq('value' => 2)
    end

    # Departure 5.
    it 'make list fail and name them (it omitted them silently), or are omitted with a warning if an option says so' do
      with_lock('environments/production/l/locked') do
        expect { list('l') }.to raise_error(RuntimeError, /with keydir='l': .*locked.*Timed out waiting for lock/)
        expect(list('l', { 'skip_undecodable' => true }))
          .to eq('keys' => { 'free' => { 'value' => 1 } }, 'folders' => [])
        expect(world.warnings).to match([%r{l/locked.*Timed out}])
      end
    end
  end

  # Departure 4.
  it 'are refused below a key, and in place of a folder' do
    put('a/key', 1)
    blocked = path('environments/production/a/key/b')
    expect { put('a/key/b', 2) }.to raise_error(
      RuntimeError, %r{ with key='a/key/b': simpkv file/x Error: Key write to '#{blocked}' failed: \S}
    )
    expect { put('a', 2) }.to raise_error(RuntimeError, /Key specifies a folder/)
    expect(list('a')).to eq('keys' => { 'key' => { 'value' => 1 } }, 'folders' => [])
  end

  # Departure 8.
  it 'are never reached through links out of the root' do
    put('a', 1)
    outside = File.join(scratch, 'outside')
    FileUtils.mkdir_p(outside)
    File.write(File.join(outside, 'k'), '{"value":"hush-hush"}')
    File.symlink(outside, path('environments/production/out'))
    File.symlink(File.join(outside, 'k'), path('environments/production/key'))
    [-> { get('out/k') }, -> { get('key') }, -> { put('out/k', 1) }, -> { put('key', 1) }, -> { put('out/new', 1) },
     -> { list('out') }, -> { exists('out/k') }, -> { delete('out/k') }, -> { deletetree('out/k') }].each do |call|
      expect(&call).to raise_error(RuntimeError, /leads out of the root/) { |error|
        expect(error.message).not_to include('hush')
      }
    end
    expect(Dir.children(outside)).to eq(['k'])
    expect(File.read(File.join(outside, 'k'))).to eq('{"value":"hush-hush"}')
  end

  it 'need no configuration' do
    allow(Simpkv::Config).to receive(:default_root_path).with('auto_default').and_return(root)
    world.hiera = nil
    expect(put('a/b', 'v')).to be(true)
    expect(File.binread(path('environments/production/a/b'))).to eq('{"value":"v","metadata":{}}')
    expect(Simpkv::Config.default_backends).to eq('default' => { 'type' => 'file', 'id' => 'auto_default' })
  end

  it 'are stored despite a misspelt option, with a warning that suggests the correct one' do
    options = { 'backends' => { 'default' => { 'lock_timeout_second' => 1 } } }
    expect(put('a', 1, {}, options)).to be(true)
    expect(world.warnings).to eq(["Unknown option 'lock_timeout_second' of simpkv backend 'default': did you mean " \
                                  "'lock_timeout_seconds'?"])
  end

  it 'are not stored with a misspelt option under strict_options' do
    { { 'backends' => { 'default' => { 'lock_timeout_second' => 1 } } } => /'lock_timeout_second' of.*_seconds'\?\z/,
      { 'sofftail' => true } => /'sofftail' in simpkv configuration: did you mean 'softfail'\?\z/ }.each do |more, why|
      options = { 'strict_options' => true, 'softfail' => true }.merge(more)
      expect { put('a', 1, {}, options) }
        .to raise_error(ArgumentError, /\Asimpkv Configuration Error for .*::put with key='a': Unknown option #{why}/)
    end
    expect(File.exist?(path('environments/production/a'))).to be(false)
    of_ldap = { 'default' => { 'ldap_uri' => 'ldaps://ldap1.example.com', 'page_size' => 100 } }
    expect(put('a', 1, {}, 'strict_options' => 'true', 'backends' => of_ldap)).to be(true)
    expect(put('a', 2, {}, 'strict_options' => nil)).to be(true)
    expect(world.warnings).to eq([])
  end
end
