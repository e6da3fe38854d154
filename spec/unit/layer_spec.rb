# frozen_string_literal: true

require_relative '../spec_helper'
require_relative '../support/file_store'
require_relative '../support/key_file'
require 'simpkv/adapter/plugin_store'

RSpec.describe Simpkv::Layer do
  include FileStoreHelp
  include KeyFile

  # Layers lack those that would pass by what they do to documents.
  interface = Simpkv::Store.public_instance_methods(false) - %i[get_decoded list_decrypted tree_decrypted inspect]
  layers = [described_class, Simpkv::AuditedStore, Simpkv::EncryptedStore, Simpkv::ReplicaReads, Simpkv::VersionedStore]

  # @return [Array<Symbol>] the names of some parameters
  def parameters(kind, method, *types)
    found = kind.instance_method(method).parameters.group_by(&:first).values_at(*types).compact.flatten(1)
    found.map { |_, name| name.to_s.delete_prefix('_').to_sym }
  end

  # @return [Simpkv::Layer] over the store
  def over_store(layer)
    case layer.name
    when /Audited/ then layer.new(store, Simpkv::Audit::Recorder.new(audited))
    when /Encrypted/ then layer.new(store, keyring, 'file/a')
    else layer.new(store)
    end
  end

  # @return [Hash{String => Object}] options of a backend
  def audited
    { 'type' => 'file', 'id' => 'a', 'audit' => { 'to' => File.join(key_folder, 'audit.log'), 'reads' => true } }
  end

  it 'has the methods of a store' do
    expect(described_class::INTERFACE).to match_array(interface)
  end

  it 'passes on each method, with arguments and block' do
    below = Object.new
    described_class::INTERFACE.each do |name|
      below.define_singleton_method(name) { |*arguments, **options, &block| [name, arguments, options, block.call] }
    end
    layer = described_class.new(below)
    described_class::INTERFACE.each do |name|
      expect(layer.public_send(name, 1, a: 2) { 3 }).to eq([name, [1], { a: 2 }, 3])
    end
  end

  # A method may also pass on what it does not name: `*arguments`, `**how`. The next example shows that it does.
  [*layers.drop(1), Simpkv::Adapter::PluginStore].each do |layer|
    it "has the parameters of a store (#{layer.name}#put had no keep_encrypted)" do
      (interface & layer.public_instance_methods(false)).each do |name|
        %i[req opt key].each do |type|
          own, wanted = [layer, Simpkv::Store].map { |kind| parameters(kind, name, type) }
          wanted &= own if parameters(layer, name, :rest, type == :key ? :keyrest : :rest).any?
          expect([name, *own]).to match_array([name, *wanted])
        end
      end
    end
  end

  layers.each do |layer|
    it "refuses what a store does not have (#{layer.name})" do
      given = { key: 'globals/a', keys: %w[globals/a], folder: 'globals', document: '{"value":1}',
                documents: { 'globals/b' => '{"value":1}' } }
      interface.each do |name|
        arguments = given.values_at(*parameters(Simpkv::Store, name, :req))
        expect { over_store(layer).public_send(name, *arguments, nonsense: 1) { nil } }.to raise_error(ArgumentError)
      end
    end
  end
end
