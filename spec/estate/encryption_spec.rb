# frozen_string_literal: true

require_relative 'exports_helper'
require_relative 'termini_helper'
require_relative '../support/key_file'

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

  context 'with encrypt: sensitive' do
    let(:mode) { 'sensitive' }

    it 'has no plain document with a Sensitive, be it in exports, catalogs, declared records or rules' do
      fill
      expect(plain_files).not_to be_empty
      expect(plain_files.select { |_, document| document.include?('pl4nted') }.keys).to eq([])
    end
  end
end
