# frozen_string_literal: true

require 'etc'
require 'fileutils'
require 'simpkv/cli'
require_relative '../support/command'

RSpec.describe 'simpkv, with a file backend that has no root_path' do
  include_context 'with the command'

  let(:backends) { { 'default' => { 'type' => 'file', 'id' => 'x' } } }
  let(:preferred) { File.join(folder, 'var/simp/simpkv/file/x') }
  let(:vardir) { File.join(folder, 'server') }
  let(:fallback) { File.join(vardir, 'simp/simpkv/file/x') }

  before do
    allow(Simpkv::Config).to receive(:default_root_path).and_call_original
    allow(Simpkv::Config).to receive(:default_root_path).with('x').and_return(preferred)
    allow(Simpkv::Vardirs).to receive(:all).and_return([vardir])
    allow(Etc).to receive(:getpwnam).and_call_original
    allow(Etc).to receive(:getpwnam).with('puppet').and_return(Etc.getpwnam('nobody'))
  end

  # Stores a key as puppetserver does without /var/simp.
  def fill_fallback
    store = Simpkv::Store.open('file', 'root_path' => fallback)
    store.put('environments/production/app/k', Simpkv::Codec.encode('of puppetserver'))
  ensure
    store&.close
  end

  def owner_of(*names)
    names.map { |name| Etc.getpwuid(File.stat(File.join(preferred, name)).uid).name }.uniq
  end

  # init created an empty store in /var/simp, which puppetserver then used.
  it 'uses the store below the vardir of puppetserver, and init creates no other' do
    fill_fallback
    init = JSON.parse(simpkv('init', '-o', 'json').out)
    expect(init).to include('folder' => "#{fallback} already exists", 'owner' => String,
                            'note' => /the store that functions use.*'#{preferred}'/)
    expect(File.exist?(preferred)).to be(false)
    expect(simpkv('get', 'app/k').out).to eq('of puppetserver')
    expect(simpkv('explain', 'app/k').out).to include("#{fallback}/environments/production/app/k")
    expect(simpkv('put', 'app/k', 'changed').code).to eq(0)
    expect(File.exist?(preferred)).to be(false)
  end

  it 'fails and names both stores if /var/simp has one beside the filled one of puppetserver' do
    fill_fallback
    FileUtils.mkdir_p(preferred)
    [%w[get app/k], %w[put app/k v], %w[tree], %w[init], %w[explain app/k]].each do |words|
      expect(simpkv(*words))
        .to have_attributes(code: Simpkv::Cli::Failure::CONFIG, out: '',
                            err: /'#{preferred}', '#{fallback}'\. Move away/)
    end
  end

  it 'names both stores and the remedy in doctor' do
    fill_fallback
    FileUtils.mkdir_p(preferred)
    expect(JSON.parse(simpkv('doctor', '-o', 'json').out))
      .to contain_exactly(include('state' => 'problem', 'what' => 'folder', 'why' => /'#{preferred}', '#{fallback}'/,
                                  'fix' => /compare what they hold/))
  end

  it 'creates the folder below /var/simp, for the user of puppetserver if root creates it' do
    init = simpkv('init')
    expected = Process.euid.zero? ? 'nobody' : Etc.getpwuid(Process.euid).name
    expect(init.out).to match(/folder: +#{preferred} was made\nowner: +#{expected}/)
    expect(simpkv('put', 'app/k', 'v').code).to eq(0)
    expect(owner_of('', 'globals', 'environments', 'environments/production/app/k')).to eq([expected])
    expect(File.stat(preferred).mode & 0o7777).to eq(0o770)
  end

  it 'keeps the owner of an existing folder' do
    FileUtils.mkdir_p(preferred)
    simpkv('init')
    expect(owner_of('')).to eq([Etc.getpwuid(Process.euid).name])
  end

  it 'creates it below the vardir, with a warning, if /var/simp cannot be created' do
    File.write(File.join(folder, 'var'), 'a file where a folder is needed')
    Dir.mkdir(vardir)
    expect(simpkv('put', 'app/k', 'v'))
      .to have_attributes(code: 0, err: /Unable to create default root path '#{preferred}'.*Using '#{fallback}'/)
    expect(simpkv('get', 'app/k')).to have_attributes(out: 'v', err: '')
  end

  it 'names the missing folder' do
    expect(simpkv('get', 'app/k'))
      .to have_attributes(code: Simpkv::Cli::Failure::NO_INPUT, err: /no folder '#{preferred}' to read keys from/)
  end
end
