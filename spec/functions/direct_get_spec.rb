# frozen_string_literal: true

require 'tmpdir'
require_relative '../puppet_helper'

# spec/conformance/repeated_gets_spec.rb compares the results of the two ways of a get.
RSpec.describe 'The short way of simpkv::get', :once do
  watched = [Puppet::Pops::Functions::Dispatcher.instance_method(:dispatch),
             *%i[get get_decoded].map { |name| Simpkv::Store.instance_method(name) }]

  let(:root) { Dir.mktmpdir }
  let(:more) { {} }
  let(:function) { 'get' }
  let(:result) { { 'value' => 1 } }
  let(:file) { { 'type' => 'file', 'id' => 'default', 'root_path' => File.join(root, 'store') } }
  let!(:world) { PuppetWorld.new(hiera: { 'backends' => { 'default' => file.merge(more) } }) }

  before { world.call('simpkv::put', 'k', 1) }

  after do
    world.close
    FileUtils.remove_entry(root)
  end

  # @return [Array<Symbol>] the calls of Puppet's dispatcher, and of the methods of the store that read a key
  define_method(:steps) do |*arguments|
    seen = []
    trace = TracePoint.new(:call) do |point|
      seen << point.method_id if watched.include?(point.defined_class.instance_method(point.method_id))
    end
    trace.enable { expect(world.call("simpkv::#{function}", *arguments)).to eq(result) }
    seen
  end

  it 'is one native call, without a dispatcher, from the second get with the same options on' do
    [[], [{}], [{ 'softfail' => true }]].each do |options|
      world.fresh_catalog
      expect(steps('k', *options).uniq).to eq(%i[dispatch get])
      2.times { expect(steps('k', *options)).to eq([:get_decoded]) }
    end
  end

  context 'with simpkv::value' do
    let(:function) { 'value' }
    let(:result) { 1 }

    it 'is the same native call' do
      world.fresh_catalog
      expect(Array.new(3) { steps('k').uniq }).to eq([%i[dispatch get], [:get_decoded], [:get_decoded]])
    end
  end

  context 'with a layer above the store' do
    let(:more) { { 'audit' => { 'to' => File.join(root, 'audit.log'), 'reads' => true } } }

    it 'avoids the dispatcher only' do
      expect(Array.new(3) { steps('k') }.drop(1)).to eq([[:get]] * 2)
    end
  end
end
