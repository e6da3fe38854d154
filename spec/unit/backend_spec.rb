# frozen_string_literal: true

require_relative '../spec_helper'
require_relative '../support/scratch'
require 'simpkv/backend'
require 'fileutils'

RSpec.describe Simpkv::Backend do
  let(:root) { Scratch.make('simpkv-site') }
  let(:file) { { 'type' => 'file', 'id' => 'a', 'root_path' => root } }
  let(:ldap) { { 'type' => 'ldap', 'id' => 'a', 'ldap_uri' => 'ldapi://%2Fnone', 'base_dn' => 'ou=simpkv' } }

  after { FileUtils.remove_entry(root) }

  # @param more [Hash] further options of the site
  def backend(settings, more = { 'environment' => 'dev' })
    described_class.new({ 'backends' => { 'x' => settings }, 'backend' => 'x' }.merge(more), [[]])
  end

  it 'has the paths of its environment, or of the global keys' do
    expect(backend(file).path('app1//url/')).to eq('environments/dev/app1/url')
    expect(backend(file, 'global' => true).path('app1')).to eq('globals/app1')
  end

  it 'has the identity of its place' do
    link = "#{root}-link"
    File.symlink(root, link)
    expect(backend(file.merge('root_path' => link, 'id' => 'b')).identity).to eq(backend(file).identity)
    expect(backend(ldap.merge('id' => 'b')).identity).not_to eq(backend(ldap).identity)
    expect(backend(ldap.merge('retries' => 5)).identity).to eq(backend(ldap).identity)
  ensure
    File.delete(link)
  end

  it 'has the identity of its place before that exists (two backends were two stores)' do
    link = "#{root}-link"
    File.symlink(root, link)
    linked, direct = [link, root].map { |folder| backend(file.merge('root_path' => "#{folder}/sub/store")) }
    expect(linked.identity).to eq(direct.identity)
  ensure
    File.delete(link)
  end

  it 'takes paths for one that a directory takes for one, and no others' do
    spellings = ['environments/dev/App1', 'environments/dev/app1 ', "environments/dev/\uFF41pp1"]
    expect(spellings.map { |path| backend(ldap).canonical(path) }.uniq).to eq(['environments/dev/app1'])
    expect(spellings.map { |path| backend(ldap.merge('layout' => 'hex')).canonical(path) }).to eq(spellings)
    expect(spellings.map { |path| backend(file).canonical(path) }).to eq(spellings)
  end

  it 'opens an existing store, and makes one only on request' do
    missing = backend(file.merge('root_path' => File.join(root, 'new')))
    expect(missing.there?).to be false
    expect { missing.open_existing }.to raise_error(Simpkv::ConfigError, /there is no store/)
    missing.open.put('globals/a', '{"value":1}')
    expect(missing.there?).to be true
    expect(missing.open_existing.get('globals/a')).to eq('{"value":1}')
  end

  it 'is what opens each backend: no other file puts layers around a store, and those of a plugin are the same' do
    project = File.expand_path('../..', __dir__)
    files = Dir["#{project}/{lib,gems/*/lib}/simpkv/**/*.rb"].select { |file| File.read(file).include?('Layers.over(') }
    expect(files).to eq(["#{project}/lib/simpkv/backend.rb"])
    place = Struct.new(:open).new(Simpkv::Store.open('file', 'root_path' => root))
    settings = { 'type' => 'acme', 'id' => 'a', 'audit' => { 'to' => File.join(root, 'audit.log') } }
    opened = described_class.new({ 'backends' => { 'x' => settings }, 'backend' => 'x' }, nil, place: place).open
    expect([opened.class, opened.put('globals/a', '{"value":1}')]).to eq([Simpkv::AuditedStore, true])
    expect(File.read(File.join(root, 'audit.log'))).to include('"backend":"acme/a"')
  end

  it 'gives a site without backends the default one, and leaves out the estate' do
    expect(described_class.site_options('estate' => {}, 'global' => true))
      .to eq('backends' => Simpkv::Config.default_backends, 'global' => true)
  end
end
