# frozen_string_literal: true

require_relative '../puppet_helper'
require 'puppet_pal'

RSpec.describe 'In an environment that Bolt made up' do
  let(:root) { File.join(@world.dir, 'store') }
  let(:backends) { { 'backends' => { 'default' => { 'type' => 'file', 'id' => 'x', 'root_path' => root } } } }

  after { @world.close }

  def in_environment(name, site = nil)
    @world = PuppetWorld.new(environment: name, hiera: site)
  end

  def put(options = {})
    @world.call('simpkv::put', 'k', 1, {}, backends.merge(options))
  end

  def stored
    Dir.glob('{environments/*/,globals/}*', base: root)
  end

  %w[bolt_catalog bolt].each do |name|
    it "with the name #{name}, keys are refused unless an option names another environment" do
      in_environment(name)
      expect { put }.to raise_error(
        ArgumentError, "simpkv Configuration Error for simpkv::put with key='k': environment '#{name}' is made up by " \
                       "Bolt: set 'bolt_environment', in simpkv::options or in the options of the call, to the " \
                       'environment that the keys belong to'
      )
      expect(File.exist?(root)).to be(false)
      expect(put('bolt_environment' => 'dev')).to be(true)
      expect(stored).to eq(['environments/dev/k'])
    end
  end

  it "keys go to the environment of Hiera's options, unless the call names another" do
    in_environment('bolt_catalog', 'bolt_environment' => 'production')
    put
    put('bolt_environment' => 'dev')
    expect(stored).to eq(%w[environments/dev/k environments/production/k])
  end

  it 'global keys need no environment' do
    in_environment('bolt_catalog')
    put('global' => true)
    expect(stored).to eq(['globals/k'])
  end

  it 'the option environment has no effect' do
    in_environment('bolt_catalog', 'environment' => 'production')
    expect { put('environment' => 'dev') }.to raise_error(ArgumentError, /set 'bolt_environment'/)
  end

  it 'an invalid name and the environment that Bolt made up are refused' do
    in_environment('bolt_catalog')
    ['', '.', '..', 'a/b', 'a b', "a\nb", "a\n", 5, ['a'], 'bolt_catalog'].each do |value|
      expect { put('bolt_environment' => value) }.to raise_error(
        ArgumentError, /Configuration Error.*: 'bolt_environment' in simpkv configuration must be the name of an env/
      )
    end
    expect(File.exist?(root)).to be(false)
  end
end

RSpec.describe 'In an environment of the site' do
  let(:world) { PuppetWorld.new(hiera: { 'bolt_environment' => 'elsewhere' }) }

  after { world.close }

  it 'bolt_environment has no effect, even if the environment is called bolt' do
    merged = Puppet::Pal.in_environment('bolt', env_dir: world.dir, facts: {}) do |pal|
      pal.with_script_compiler { |compiler| compiler.call_function('simpkv::support::config::merge', {}, ['file']) }
    end
    expect(merged).to include('environment' => 'bolt', 'bolt_environment' => 'elsewhere')
  end
end
