# frozen_string_literal: true

require 'spec_helper'
require_relative '../support/key_file'
require 'simpkv'
require 'simpkv/status'

RSpec.describe Simpkv::Status::ExpiringKeys do
  let(:documents) do
    broken = Array.new(1010) { |number| ["production/k#{number}", '{"value":1,"expires":"never"}'] }.to_h
    { 'globals' => { 'good' => '{"value":1,"expires":"2020-01-01T00:00:00Z"}' }, 'environments' => broken }
  end
  let(:store) do
    instance_double(Simpkv::Store).tap do |store|
      allow(store).to receive(:tree) do |root, **, &read|
        documents.fetch(root).each(&read)
        { errors: {} }
      end
    end
  end

  # All of them were kept in memory.
  it 'keeps some names of very many keys that cannot be read, and the number of all' do
    reading = described_class.new('default', store)
    expect(reading.first(5).map(&:name)).to eq(%w[good])
    expect(reading.unreadable.length).to eq(1000)
    expect(reading).to have_attributes(unreadable_total: 1010, unreadable: all(have_attributes(backend: 'default')))
    expect { reading.count }.to raise_error(Simpkv::MalformedError, %r{'environments/production/k\d+' cannot be read: })
  end

  # The names were cut to the most that are shown before those of nodes were left out: the alert named nothing.
  context 'with one corrupt key behind very many corrupt documents of nodes' do
    let(:documents) do
      nodes = Array.new(1010) { |number| ["estate/status/n#{number}", '{"value":1'] }.to_h
      { 'globals' => nodes.merge('zeta' => '{"value":1'), 'environments' => {} }
    end

    it 'names it, with and without those of nodes' do
      reading = described_class.new('default', store, judged: [%r{\Aglobals/estate/status/}])
      found = { keys: reading.first(5), all: true, errors: {}, unreadable: reading.unreadable,
                unreadable_total: reading.unreadable_total, unreadable_of_nodes: reading.unreadable_of_nodes }
      unreadable = described_class.plain(found, 100)['unreadable']
      expect(unreadable).to match('total' => 1011, 'of_nodes' => 1010, 'keys' => have_attributes(length: 100))
      expect(described_class.without_nodes(unreadable))
        .to match('total' => 1, 'of_nodes' => 0, 'keys' => [include('path' => 'globals/zeta')])
    end
  end

  context 'with documents that do not expire' do
    include KeyFile

    let(:encrypted) { keyring.encrypt('file/default', 'globals/x', '{"value":1}') }
    let(:documents) do
      keys = { 'good' => '{"value":1,"metadata":{"note":"\"expires\""}}', 'secret' => 'eyJh.pl4nted', 'empty' => '',
               'rich' => '{"value":{"__ptype":"Sensitive","__pvalue":"x"},"encoding":"pcore","metadata":{}}',
               'cut' => '{"value":"pl4nt', 'list' => '[1]', 'other' => '{"value":1,"encoding":"base65"}',
               'encrypted' => encrypted, 'damaged' => encrypted[0..-2] }
      { 'globals' => keys, 'environments' => {} }
    end

    # A document without "expires" was not read: a truncated one left the state ok.
    it 'names those that functions cannot read, except for encrypted ones' do
      reading = described_class.new('default', store)
      expect(reading.first(5)).to eq([])
      expect(reading.unreadable.map { |key| File.basename(key.path) })
        .to match_array(%w[cut damaged empty list other secret])
      expect(reading.unreadable.map(&:why).join).not_to match(/pl4nt/)
    end
  end
end
