# frozen_string_literal: true

require 'yaml'
require_relative 'puppetserver_helper'

# The server compiles the catalog, the agent gets the types with pluginsync, and applies it with its own configuration.
RSpec.describe 'Keys as resources of an agent' do
  include_context 'with puppetserver'
  include_context 'with slapd'

  let(:manifest) { <<~PUPPET }
    simpkv_folder { 'app1': ensure => present, purge => true }
    simpkv_key { 'app1/token': value => Sensitive('pl4nted-token'), metadata => { 'by' => $trusted['certname'] } }
    simpkv_key { 'app1/list': value => { 'a' => [1, undef, 2.5], 'b' => Sensitive('pl4nted-inside') } }
    simpkv_key { 'app1/kept': ensure => present }
  PUPPET
  let(:node) { puppetserver.path('agents', 'node1') }

  def stored
    store.tree('environments/production')[:keys].keys.sort
  end

  def configure_agent
    FileUtils.mkdir_p(node)
    options = slapd.options('type' => 'ldap', 'id' => id)
    File.write(File.join(node, 'simpkv.yaml'), { 'backends' => { 'default' => options } }.to_yaml)
  end

  # @return [Array<String>] the files of the agent and of the server that hold a secret
  def leaks
    files = Dir[File.join(node, 'var/**/*'), puppetserver.path('log/*'), puppetserver.path('server/**/reports/**/*')]
    files.select { |file| File.file?(file) && File.binread(file).include?('pl4nted-') }
  end

  def agent
    puppetserver.agent('node1', variables: { 'GEM_HOME' => Packages.linked_for_mri }, arguments: ['--debug'])
  end

  it 'are stored, purged and unchanged in the next run, and no secret is outside of the store and the catalog' do
    environment('production', manifest)
    configure_agent
    store.put('environments/production/app1/kept', 'pl4nted-document')
    store.put('environments/production/app1/old', '{"value":"pl4nted-old"}')
    outputs = [agent, agent]
    expect(stored).to eq(%w[app1/kept app1/list app1/token])
    expect(store.get('environments/production/app1/token'))
      .to include('"value":{"__ptype":"Sensitive","__pvalue":"pl4nted-token"}', '"metadata":{"by":"node1"}')
    expect(outputs.map { |output| output.scan(/^Notice: .*(Simpkv_key\[.*?)(?=: )/).flatten.sort })
      .to eq([['Simpkv_key[app1/list]/ensure', 'Simpkv_key[app1/old]/ensure', 'Simpkv_key[app1/token]/ensure'], []])
    expect(outputs.join.scan(/pl4nted-\w+/)).to eq([])
    # Puppet caches the whole catalog of the node for root.
    expect(leaks.grep_v(%r{/client_data/catalog/})).to eq([])
  end
end
