# frozen_string_literal: true

require_relative '../puppet_helper'

RSpec.describe 'The file plugin' do
  let!(:world) { PuppetWorld.new }
  let(:root) { File.join(world.dir, 'root') }
  let(:plugin) { world.adapter.plugin_info['file'][:class].new('file/x') }
  let(:preferred) { File.join(world.dir, 'var-simp', 'file', 'x') }
  let(:server_vardir) { File.join(world.dir, 'server') }
  let(:fallback) { File.join(world.dir, 'vardir', 'simp', 'simpkv', 'file', 'x') }

  before do
    allow(Simpkv::Config).to receive(:default_root_path).with('x').and_return(preferred)
    allow(Simpkv::Vardirs).to receive(:server).and_return([server_vardir])
    Puppet[:vardir] = File.join(world.dir, 'vardir')
  end

  after { world.close }

  def options(more = {})
    { 'backend' => 'b', 'backends' => { 'b' => { 'type' => 'file', 'id' => 'x' }.merge(more) } }
  end

  def configure(more = {})
    plugin.configure(options(more))
  end

  def stored_in
    expect(plugin.put('globals/k', '{"value":1,"metadata":{}}')).to eq(result: true, err_msg: nil)
    [root, preferred, fallback].select { |folder| File.file?(File.join(folder, 'globals', 'k')) }
  end

  # A place where not even root can make a folder.
  def blocked(path)
    FileUtils.mkdir_p(File.dirname(File.dirname(path)))
    File.write(File.dirname(path), 'a file where a folder is needed')
  end

  it 'has the name that it was given' do
    expect(plugin.name).to eq('file/x')
  end

  it 'reports a call before configure' do
    { delete: false, deletetree: false, exists: nil, get: nil, list: nil }.each do |operation, failed|
      expect(plugin.public_send(operation, 'globals/k')).to eq(
        result: failed, err_msg: "Internal error: #{operation} called before configure"
      )
    end
    expect(plugin.put('globals/k', 'x')).to eq(result: false, err_msg: 'Internal error: put called before configure')
  end

  it 'is misconfigured without a backend of its type, and shows no options' do
    [nil, {}, { 'backend' => 'b' }, { 'backend' => 'b', 'backends' => {} },
     options('type' => 'hush'), options('id' => nil),
     options('root_path' => 'relative/hush'), options('lock_timeout_seconds' => 'hush')].each do |wrong|
      answer = plugin.configure(wrong)
      expect(answer).to match(result: false, err_msg: /\APlugin misconfigured/)
      expect(answer[:err_msg]).not_to include('hush')
    end
  end

  describe 'with a root_path' do
    it 'makes that folder and stores there' do
      expect(configure('root_path' => root)).to eq(result: true, err_msg: nil)
      expect(stored_in).to eq([root])
    end

    # get worked, and list was always empty.
    it 'accepts a trailing slash' do
      configure('root_path' => "#{root}/")
      expect(stored_in).to eq([root])
      expect(plugin.list('globals')).to match(result: hash_including(keys: { 'k' => /value/ }, folders: []),
                                              err_msg: nil)
    end

    it 'reports a folder that cannot be made' do
      blocked(File.join(root, 'sub'))
      expect(configure('root_path' => File.join(root, 'sub'))).to match(
        result: false, err_msg: /\AUnable to create configured root path '#{root}.sub'/
      )
    end

    it 'stores files of mode 0660 in folders of mode 0770' do
      configure('root_path' => root)
      stored_in
      expect(File.stat(File.join(root, 'globals', 'k')).mode & 0o777).to eq(0o660)
      expect(File.stat(File.join(root, 'globals')).mode & 0o777).to eq(0o770)
    end
  end

  describe 'without root_path' do
    it 'makes the folder below /var/simp' do
      expect(configure).to eq(result: true, err_msg: nil)
      expect(stored_in).to eq([preferred])
      expect(world.warnings).to eq([])
    end

    it 'uses the one below /var/simp if both exist' do
      [preferred, fallback].each { |folder| FileUtils.mkdir_p(folder) }
      configure
      expect(stored_in).to eq([preferred])
    end

    it 'uses the one below vardir if only that exists' do
      FileUtils.mkdir_p(fallback)
      configure
      expect(stored_in).to eq([fallback])
      expect(world.warnings).to eq([])
    end

    it "uses puppetserver's if only that exists (puppet apply made an empty one)" do
      store = File.join(server_vardir, 'simp', 'simpkv', 'file', 'x')
      FileUtils.mkdir_p(store)
      configure
      expect(stored_in).to eq([])
      expect(File.file?(File.join(store, 'globals', 'k'))).to be(true)
    end

    # Generated passwords changed.
    it 'fails if /var/simp has one beside one with keys below vardir, and names both' do
      FileUtils.mkdir_p([preferred, File.join(fallback, 'globals')])
      File.write(File.join(fallback, 'globals', 'k'), '{"value":1}')
      expect(configure).to match(result: false, err_msg: /\APlugin misconfigured: .*'#{preferred}', '#{fallback}'/)
    end

    it 'makes the one below vardir, with a warning, if the other cannot be made' do
      blocked(preferred)
      expect(configure).to eq(result: true, err_msg: nil)
      expect(stored_in).to eq([fallback])
      expect(world.warnings).to match([/Unable to create default root path '#{preferred}'.*Using '#{fallback}'/])
    end

    it 'fails if neither can be made' do
      [preferred, fallback].each { |folder| blocked(folder) }
      expect(configure).to match(result: false,
                                 err_msg: /Unable to create default root path '#{preferred}'.*#{fallback}/)
    end

    # A new and empty store beside the real one would lose what is in the real one.
    it 'fails if the folder exists and cannot be used' do
      FileUtils.mkdir_p(File.dirname(preferred))
      [-> { File.write(preferred, '') }, -> { File.symlink('/nowhere/at/all', preferred) }].each do |make|
        FileUtils.rm_f(preferred)
        make.call
        expect(configure).to match(result: false, err_msg: /#{preferred}/)
        expect(File.exist?(fallback)).to be(false)
      end
    end
  end

  describe 'with an entry that cannot be read' do
    before do
      configure('root_path' => root)
      plugin.put('globals/good', '{"value":1,"metadata":{}}')
      # Not even root can read it: it leads out of the root.
      File.symlink('/etc/passwd', File.join(root, 'globals', 'bad'))
    end

    it 'fails to list, and names it' do
      expect(plugin.list('globals')).to match(result: nil, err_msg: /bad/)
    end

    it 'is omitted from simpkv::list, with a warning, if an option says so' do
      call = { 'global' => true, 'skip_undecodable' => true,
               'backends' => { 'default' => { 'type' => 'file', 'id' => 'x', 'root_path' => root } } }
      expect(world.call('simpkv::list', '/', call)).to eq('keys' => { 'good' => { 'value' => 1 } }, 'folders' => [])
      expect(world.warnings).to match([/bad/])
    end
  end
end
