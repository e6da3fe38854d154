# frozen_string_literal: true

require 'spec_helper'
require 'simpkv/estate'
require_relative '../support/estate_files'

RSpec.describe Simpkv::Estate::Nodes do
  include_context 'with an estate in files'

  let(:nodes) { estate.nodes }
  let(:record) { { 'environment' => 'production', 'classes' => { 'ntp' => nil }, 'parameters' => { 'role' => 'web' } } }

  it 'returns a record as it was declared' do
    expect(nodes.declare('web1', record)).to be(true)
    expect(nodes.get('web1')).to eq(record)
    expect(nodes.all).to eq('web1' => record)
  end

  it 'returns nil for a node that is not declared' do
    expect(nodes.get('web1')).to be_nil
  end

  it 'writes nothing if the same record is declared again' do
    nodes.declare('web1', record)
    expect(nodes.declare('web1', record)).to be(false)
  end

  { 'an environment that has no valid name' => [{ 'environment' => 'a-b' }, "'environment' must be the name"],
    'a class that is a number' => [{ 'classes' => ['ntp', 1] }, "'classes' must be a list of names, or a Hash"],
    'classes that are text' => [{ 'classes' => 'ntp' }, "'classes' must be a list of names, or a Hash"],
    'parameters of a class that are a list' => [{ 'classes' => { 'ntp' => ['s3cret'] } }, "'classes' must be"],
    'parameters that are a list' => [{ 'parameters' => ['s3cret'] }, "'parameters' must be a Hash"],
    'a parameter that Puppet sets' =>
      [{ 'parameters' => { 'a' => 1, 'facts' => 's3cret' } }, "the parameter 'facts': Puppet sets it itself"],
    'a parameter with a number as its name' =>
      [{ 'parameters' => { '12' => 's3cret' } }, "'parameters': a node cannot have a parameter whose name is a number"],
    'a scope that is a number' => [{ 'scope' => 1 }, "'scope' must be a String"],
    'ports that are text' => [{ 'ports' => ['s3cret'] }, "'ports' must be a list of Hashes"],
    'auto_discovered that is text' => [{ 'auto_discovered' => 's3cret' }, "'auto_discovered' must be true or false"],
    'sensitive that is text' => [{ 'sensitive' => '/s3cret' }, "'sensitive' must be a list of JSON pointers, such as"],
    'a pointer to the whole record' => [{ 'sensitive' => [''] }, "'sensitive' must be a list of JSON pointers"],
    'a pointer without slash' => [{ 'sensitive' => ['s3cret'] }, "'sensitive' must be a list of JSON pointers"],
    'a pointer with another escape' => [{ 'sensitive' => ['/s3cret~2'] }, "'sensitive' must be a list of JSON"],
    'an unknown member' => [{ 'class' => ['s3cret'] }, "there is no member 'class', only environment, classes"],
    'another object than a Hash' => [['s3cret'], 'it must be a Hash'] }.each do |what, (invalid, message)|
    it "refuses #{what}, and says what it expected without the value" do
      expect { nodes.declare('web1', invalid) }.to raise_error(Simpkv::InvalidError, /#{Regexp.escape(message)}/) { |e|
        expect(e.message).to start_with("the record of node 'web1' cannot be stored: ")
        expect(e.message).not_to include('s3cret')
      }
      expect(nodes.all).to eq({})
    end
  end

  it 'takes the members of a node that was discovered' do
    discovered = record.merge('auto_discovered' => true, 'sensitive' => %w[/parameters/role /classes/a~1b/0])
    expect(nodes.declare('web1', discovered)).to be(true)
    expect(nodes.get('web1')).to eq(discovered)
  end

  it 'replaces the values at sensitive paths in a copy' do
    record = { 'parameters' => { 'a/b' => [1, { 'c~' => 2 }], 'd' => 3 },
               'sensitive' => %w[/parameters/a~1b/1/c~0 /parameters/a~1b/0 /parameters/a~1b/2 /parameters/d/e /ports] }
    copy = described_class.replace_sensitive(record, &:-@)
    expect(copy['parameters']).to eq('a/b' => [-1, { 'c~' => -2 }], 'd' => 3)
    expect(record['parameters']).to eq('a/b' => [1, { 'c~' => 2 }], 'd' => 3)
  end

  it 'refuses an invalid change, and keeps what is declared' do
    nodes.declare('web1', record)
    expect { nodes.update('web1') { |old| old.merge('classes' => 1) } }.to raise_error(Simpkv::InvalidError)
    expect(nodes.get('web1')).to eq(record)
  end

  it 'refuses a name that cannot be a part of a key' do
    expect { nodes.declare('a/b', record) }.to raise_error(Simpkv::InvalidError, %r{a/b})
    expect { nodes.declare('a b', record) }.to raise_error(Simpkv::InvalidError, /a b/)
  end

  it 'names the key of a record that has another form' do
    estate.store.put('globals/estate/nodes/web1', '{"value":{"classes":"s3cret"},"metadata":{}}')
    expect { nodes.get('web1') }.to raise_error(Simpkv::MalformedError) { |e|
      expect(e.message).to start_with("'globals/estate/nodes/web1' cannot be read: 'classes' must be")
      expect(e.message).not_to include('s3cret')
    }
  end

  # They had reached Puppet, which failed, or searched for a folder of that name.
  ['"s3cret"', '{"environment":["s3cret"]}', '{"environment":"../../s3cret"}'].each do |value|
    it "leaves out a record of the form #{value}, and names its key" do
      nodes.declare('web2', record)
      %w[nodes node_cache].each do |folder|
        estate.store.put("globals/estate/#{folder}/web1", "{\"value\":#{value},\"metadata\":{}}")
      end
      unreadable = {}
      expect(nodes.all { |key, why| unreadable[key] = why }).to eq('web2' => record)
      expect(unreadable.keys).to eq(%w[globals/estate/nodes/web1])
      expect { nodes.cached('web1') }.to raise_error(Simpkv::MalformedError) { |e|
        expect(e.message).to start_with("'globals/estate/node_cache/web1' cannot be read: ")
        expect(e.message).not_to include('s3cret')
      }
    end
  end

  it 'keeps the answer of another classifier apart from the declared record' do
    nodes.declare('web1', record)
    nodes.cache('web1', 'classes' => ['other'])
    expect(nodes.get('web1')).to eq(record)
    expect(nodes.cached('web1')).to eq('classes' => ['other'])
    expect(nodes.all.keys).to eq(%w[web1])
    nodes.delete_cached('web1')
    expect(nodes.cached('web1')).to be_nil
    expect(nodes.get('web1')).to eq(record)
  end
end
