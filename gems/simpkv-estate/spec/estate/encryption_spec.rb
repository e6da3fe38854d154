# frozen_string_literal: true

require_relative 'exports_helper'
require_relative 'termini_helper'
require_relative '../../../../spec/support/key_file'

RSpec.describe 'The estate in an encrypted backend' do
  include EstateSite
  include EstateTermini
  include KeyFile

  let(:mode) { 'all' }
  let(:site_options) { { 'catalogs' => true } }
  let(:backend) do
    { 'type' => 'file', 'id' => 'estate', 'root_path' => File.join(scratch, 'root'),
      'encryption_keys' => write_keys('a'), 'encrypt' => mode }
  end

  let(:manifest) do
    <<~PUPPET
      @@file { '/exported': content => Sensitive('pl4nted'), tag => 'x' }
      @@file { '/public': content => 'public' }
      file { '/secret': content => Sensitive('pl4nted') }
    PUPPET
  end
  let(:rule) do
    { 'sensitive' => true, 'actions' => [{ 'op' => 'set-attribute', 'args' => %w[/parameters/a pl4nted] }] }
  end

  def fill
    run_node('web1', manifest)
    estate.nodes.declare('web1', 'parameters' => { 'password' => 'pl4nted', 'role' => 'web' },
                                 'sensitive' => ['/parameters/password'])
    Simpkv::Inspection::Rules.of(estate).create(rule)
  end

  def plain_files
    files.reject { |_, document| document.include?('"encoding":"jwe"') }
  end

  def exports
    files.select { |path, _| path.start_with?('exported/') }
  end

  it 'has no plain document, and works as a plain one' do
    fill
    expect([plain_files, files.length]).to match([{}, be > 3])
    expect(titles(compile('web2', "File <<| tag == 'x' |>>"), 'File')).to eq(['/exported'])
    expect(estate.nodes.get('web1')['parameters']['password']).to eq('pl4nted')
    expect(estate.catalogs.get('web1')['resources'].length).to be > 1
    before = exports
    run_node('web1', manifest)
    expect([exports, before.length]).to eq([before, 1])
  end

  # With soft, it would compile catalogs without the resources of others, and those that purge would remove these.
  context 'with soft, and a compiler without the keys' do
    let(:site_options) { { 'soft' => true } }
    let(:lacking) { [Puppet::Error, /the estate is encrypted, and this process has no 'encryption_keys'/] }

    def lose_keys
      place = backend.slice('type', 'id', 'root_path')
      File.write(ENV.fetch('SIMPKV_CONFIG'), { 'backends' => { 'default' => place }, 'estate' => site_options }.to_yaml)
      Simpkv::Termini.instance_variable_set(:@estate, nil)
    end

    def encrypt_all
      encrypted = Simpkv::Estate.new({ 'backends' => { 'default' => backend } })
      paths = encrypted.store.tree('globals/estate', values: false)[:keys].keys
      paths.each { |path| encrypted.store.renew("globals/estate/#{path}") }
    end

    it 'fails each of its catalogs, and stores nothing' do
      fill
      before = files
      lose_keys
      %w[web1 web9].each { |name| expect { run_node(name, manifest) }.to raise_error(*lacking) }
      expect { compile('web9', 'File <<| |>>') }.to raise_error(*lacking)
      expect(files).to eq(before)
    end

    it 'fails catalogs that collect, also if the estate is encrypted while it runs' do
      FileUtils.rm_r(backend['root_path'])
      Simpkv::Store.open('file', backend.slice('root_path')).close
      lose_keys
      estate.make
      run_node('web1', manifest)
      encrypt_all
      before = files
      expect { compile('web9', 'File <<| |>>') }.to raise_error(*lacking)
      expect { run_node('web9', manifest) }.to raise_error(*lacking)
      expect(files).to eq(before)
    end
  end

  context 'with encrypt: sensitive' do
    let(:mode) { 'sensitive' }

    it 'has no plain document with a Sensitive, be it in exports, catalogs, declared records or rules' do
      fill
      expect(plain_files).not_to be_empty
      expect(plain_files.select { |_, document| document.include?('pl4nted') }.keys).to eq([])
    end
  end
end
