# frozen_string_literal: true

require 'simpkv/query/builder'
require 'simpkv/query/engine'
require_relative 'index_helper'
require_relative '../../../../spec/support/key_file'

RSpec.describe 'The index of an encrypted estate with secrets' do
  include KeyFile

  include_context 'with an index'

  let(:root) { Scratch.make('simpkv-estate') }
  let(:estate) do
    Simpkv::Estate.new({ 'backends' => { 'default' => backend.merge('encryption_keys' => key_file) },
                         'estate' => { 'catalogs' => true } })
  end
  let(:backend) { { 'type' => 'file', 'id' => 'x', 'root_path' => root } }
  let(:builder) { Simpkv::Query::Builder.new(estate, index) }

  before do
    keyring
    FileUtils.mkdir_p(File.join(root, 'globals'))
    estate.make
    estate.facts.save('web1', { 'db_password' => 'pl4nted1', 'app' => { 'api_key' => 'pl4nted2', 'name' => 'shop' } },
                      trusted: { 'extensions' => { 'pp_secret' => 'pl4nted3' } })
    estate.exports.save('web1', { 'user' => [{ 'title' => 'felix', 'parameters' => exported }] }, 'production')
    estate.catalogs.put('web1', catalog)
    estate.reports.save('web1', 'status' => 'changed', 'environment' => 'production', 'events' => [event])
  end

  after { FileUtils.remove_entry(root) }

  def sensitive(value)
    { '__ptype' => 'Sensitive', '__pvalue' => value }
  end

  def exported
    { 'password' => 'pl4nted4', 'comment' => sensitive('pl4nted5'), 'groups' => ['web', sensitive('pl4nted6')] }
  end

  def catalog
    { 'resources' => [{ 'type' => 'File', 'title' => '/etc/motd', 'sensitive_parameters' => ['content'],
                        'parameters' => { 'content' => 'pl4nted7', 'mode' => '0600' } }] }
  end

  # @return [Hash] what a report has of a property whose messages are secret
  def event
    { 'type' => 'User', 'title' => 'felix', 'property' => 'password', 'status' => 'success', 'name' => 'changed',
      'message' => 'changed password from pl4nted8 to pl4nted9', 'time' => '2026-01-01T00:00:00.000Z' }
  end

  # @return [Array<Hash>] what a query answers
  def rows(entity, index = self.index)
    found = []
    index.read do |database|
      Simpkv::Query::Engine.new(database).query(entity, nil, Simpkv::Query::Paging.none) { |row| found << row }
    end
    found.map { |row| JSON.parse(row) }
  end

  it 'has all but the secrets, in answers and in its files' do
    builder.refresh

    expect(rows('facts').to_h { |row| row.values_at('name', 'value') })
      .to eq('app' => { 'name' => 'shop' }, 'trusted' => { 'extensions' => {} })
    expect(rows('resources').to_h { |row| row.values_at('title', 'parameters') })
      .to eq('felix' => { 'groups' => ['web'] }, '/etc/motd' => { 'mode' => '0600' })
    expect(rows('events').map { |row| row.values_at('property', 'message') }).to eq([['password', nil]])
    files = Dir[File.join(folder, '*')]
    expect(files.map { |file| File.extname(file) }).to include('.db')
    expect(files.map { |file| File.binread(file) }).to all(satisfy { |bytes| !bytes.include?('pl4nted') })
  end

  it 'is another one where the site has names of its own for secrets, without what has these' do
    options = { 'catalogs' => true, 'secret_names' => %w[name mode groups] }
    site = { 'backends' => { 'default' => backend.merge('encryption_keys' => key_file) }, 'estate' => options }
    own = Simpkv::Query::Index.of(Simpkv::Estate.new(site), folder)
    expect(own.path).not_to eq(Simpkv::Query::Index.of(estate, folder).path)

    Simpkv::Query::Builder.new(Simpkv::Estate.new(site), own).refresh
    expect(rows('facts', own).to_h { |row| row.values_at('name', 'value') })
      .to eq('app' => {}, 'trusted' => { 'extensions' => {} })
    expect(rows('resources', own).map { |row| row['parameters'] }).to eq([{}, {}])
  ensure
    own&.close
  end

  it 'changes only with the documents, though each encryption of them differs' do
    expect([builder.refresh, builder.refresh]).to eq [1, 0]
    estate.store.get_many(%w[inventory status].map { |name| "globals/estate/#{name}/web1" }).each do |key, document|
      estate.store.delete(key)
      estate.store.put(key, document)
    end
    expect([builder.refresh, builder.check]).to eq [0, []]
  end

  it 'cannot be refreshed by a process without the keys' do
    other = Simpkv::Estate.new({ 'backends' => { 'default' => backend } })

    expect { Simpkv::Query::Builder.new(other, index).refresh }
      .to raise_error(Simpkv::Estate::DisagreementError, /the estate is encrypted/)
    expect(index.state.refreshed).to be_nil
  end
end
