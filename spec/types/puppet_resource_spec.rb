# frozen_string_literal: true

require_relative 'puppet_process'
require_relative 'puppet_resource'
require_relative 'types_helper'

# The specs of docs/keys.md and of bin/demo run it in processes.
RSpec.describe 'puppet resource' do
  include_context 'with keys as resources'
  include PuppetResource

  before do
    fill('app1/url' => { value: 'http://app1', metadata: { 'owner' => 'ops' } },
         'app1/list' => { value: [1, { 'a' => true }] }, 'top' => { value: 1 },
         'app1/A Name' => { value: 'equal' }, 'app1/B Name' => { value: 'equal' },
         'app1/secret' => '{"value":{"__ptype":"Sensitive","__pvalue":"pl4nted-secret"},"encoding":"pcore"}')
    fill({ 'other' => { value: 2 } }, 'environments/testing')
  end

  # @return [Array<String>] the titles of the resources in the output
  def titles(output, type = 'simpkv_key')
    output.scan(/^#{type} \{ '(.*)':/).flatten
  end

  # It printed the passwords that `simpkv put` had stored.
  it 'simpkv_key lists the keys of the environment, and none of their values' do
    fill('app1/password' => { value: 'pl4nted-by-an-operator' })
    output = puppet_resource('simpkv_key')
    expect(titles(output))
      .to match_array(%w[app1/url app1/list app1/secret app1/password top app1:unnamed-1 app1:unnamed-2])
    expect(output).to include("'owner' => 'ops'")
    single = [['app1//password'], ['app1/password'], ['app1/password', 'value=new']]
    outputs = [output, puppet_resource('simpkv_key', yaml: true),
               *single.map { |arguments| puppet_resource('simpkv_key', *arguments) }]
    expect(outputs.join + log.join).not_to match(%r{pl4nted-|http://app1})
    expect(documents['app1/password']).to include('"new"')
  end

  it 'simpkv_key lists those of another environment' do
    testing = Puppet::Node::Environment.create(:testing, world.environment.modulepath)
    expect(titles(puppet_resource('simpkv_key', environment: testing))).to eq(['other'])
  end

  # The printed manifest can be applied.
  it 'simpkv_key prints a manifest that changes nothing' do
    %w[app1/url app1/list top app1/secret].each do |key|
      manifest = puppet_resource('simpkv_key', key)
      apply!(manifest)
      expect(changed).to eq([]), manifest
    end
  end

  it 'simpkv_key NAME shows, makes, changes and removes one key' do
    expect(puppet_resource('simpkv_key', 'app1/none')).to match(/ensure +=> 'absent'/)
    puppet_resource('simpkv_key', 'app1/none', 'value=made')
    puppet_resource('simpkv_key', 'top', 'value=changed')
    expect(documents.values_at('app1/none', 'top')).to all(match(/made|changed/))
    puppet_resource('simpkv_key', 'top', 'ensure=absent')
    expect(keys).not_to include('top')
  end

  it 'simpkv_key removes one entry without a usable name by its title, and no other with equal content' do
    expect(puppet_resource('simpkv_key', 'app1:unnamed-2', 'ensure=absent')).to include('absent')
    expect(keys.grep(/Name/)).to eq(['app1/A Name'])
    puppet_resource('simpkv_key', 'app1:unnamed-2', 'ensure=absent')
    expect(keys.grep(/Name/)).to eq(['app1/A Name'])
  end

  it 'simpkv_folder lists the folders of the environment, makes and removes one' do
    expect(titles(puppet_resource('simpkv_folder'), 'simpkv_folder')).to include('app1')
    puppet_resource('simpkv_folder', 'app3', 'ensure=present')
    expect(puppet_resource('simpkv_folder', 'app3')).to match(/ensure +=> 'present'/)
    puppet_resource('simpkv_folder', 'app3', 'ensure=absent')
    expect(File.exist?(File.join(root, KeysAsResources::PRODUCTION, 'app3'))).to be(false)
  end

  context 'without a folder of the environment, as on agents' do
    include PuppetProcess

    # Puppet takes `production` then, whose keys were listed and removed.
    it 'uses the keys of the environment that was named' do
      fill({ 'top' => { value: 2 } }, 'environments/testing')
      puppet('resource', 'simpkv_key', 'top', 'ensure=absent', '--environment=testing')
      expect([keys(prefix: 'environments/testing'), keys]).to match([%w[other], include('top')])
      expect(titles(puppet('resource', 'simpkv_key', '--environment=testing').first)).to eq(%w[other])
    end
  end
end
