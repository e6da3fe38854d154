# frozen_string_literal: true

require_relative '../puppet_helper'
require 'simpkv/adapter'

# Functions kept secrets in the default folder without a word.
RSpec.describe 'A misspelt simpkv::options in Hiera' do
  let(:world) { PuppetWorld.new }
  let(:root) { File.join(world.dir, 'root') }
  let(:options) { { 'backends' => { 'default' => { 'type' => 'file', 'id' => 'x', 'root_path' => root } } } }
  let(:data) { File.join(world.dir, 'data.yaml') }

  after { world.close }

  # @return [Array<String>] the warnings of a catalog
  def warnings(content, name: 'data.yaml')
    before = world.warnings.length
    File.write(File.join(world.dir, name), content.is_a?(String) ? content : content.to_yaml)
    world.fresh_environment
    2.times { |n| world.call('simpkv::put', "k#{n}", 1, {}, options) }
    world.warnings.drop(before)
  end

  %w[simpkv::option simpkv::opts simpkv::optoins simpkv::Options simpkv:options simpkv::opt_default].each do |name|
    it "causes one warning in a catalog: #{name}" do
      expect(warnings({ name => { 'backends' => {} }, 'a' => 1 }))
        .to eq(["simpkv: Hiera has the key '#{name}' in #{data}, which simpkv does not read: did you mean " \
                "'simpkv::options'?"])
    end
  end

  it 'is found beside the right key, and in JSON' do
    world.hiera = options
    right = File.read(data)
    expect(warnings("#{right}simpkv::option: {softfail: true}\n")).to match([/'simpkv::option'/])
    expect(warnings('{"simpkv::optins": {}}')).to match([/'simpkv::optins'/])
  end

  it 'is found in all files that Hiera reads for the node' do
    levels = [{ 'name' => 'a', 'paths' => %w[absent.yaml data.yaml] }, { 'name' => 'b', 'path' => 'other.yaml' }]
    File.write(File.join(world.dir, 'hiera.yaml'),
               { 'version' => 5, 'hierarchy' => levels,
                 'defaults' => { 'datadir' => world.dir, 'data_hash' => 'yaml_data' } }.to_yaml)
    File.write(File.join(world.dir, 'unread.yaml'), 'simpkv::opts: {}')
    expect(warnings({ 'simpkv::options' => options }, name: 'data.yaml')).to eq([])
    expect(warnings({ 'simpkv::opttions' => {} }, name: 'other.yaml')).to match([/'simpkv::opttions' in .*other.yaml/])
  end

  it 'is none of these' do
    world.hiera = options
    right = File.read(data)
    ["# simpkv::option: {}\n", "a:\n  simpkv::option: {}\n", "simpkv::version: 1\nsimpkv::ensure: latest\n",
     "simpkv::opt_common: {softfail: true}\nb: \"%{alias('simpkv::opt_common')}\"\n", "c: simpkv::option\n",
     "simpkv::backend::file: {}\nmysimpkv::option: 1\n"].each { |more| expect(warnings(right + more)).to eq([]) }
    expect(warnings("# simpkv::option: {}\n")).to match([/does not contain a valid yaml hash/])
  end

  it 'costs one question to Hiera in a catalog' do
    expect(Simpkv::Adapter::HieraFiles).to receive(:of).once.and_call_original
    expect(warnings({})).to eq([])
  end
end
