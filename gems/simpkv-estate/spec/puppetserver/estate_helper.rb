# frozen_string_literal: true

require 'simpkv/inspection'
require_relative '../../../../spec/puppetserver/puppetserver_helper'
require_relative '../support/estate_nodes'
require_relative '../../../../spec/support/scratch'

# Makes the store and the estate in `backend` before each example: Puppet's termini do not.
RSpec.shared_context 'with the store of an estate' do
  before do
    Simpkv::Store.open('file', backend.slice('root_path')).close if backend['type'] == 'file'
    Simpkv::Estate.new({ 'backends' => { 'default' => backend } }).make
  end
end

# Examples for nodes that run in some way over some store. A group defines `site`, the content of simpkv.yaml, `nodes`,
# and `traces`.
RSpec.shared_examples 'nodes of an estate' do
  let(:estate) { Simpkv::Estate.new(site) }

  after { nodes.remove }

  def everything(*names)
    { keys: names, hosts: names, marks: names.map { |name| "web-#{name}" } }
  end

  it 'collect what others export, until these stop or are deactivated, and show no secret meanwhile' do
    expect(nodes.run('alpha')).to eq(everything('alpha'))
    expect(nodes.run('beta')).to eq(everything('alpha', 'beta'))
    expect(nodes.run('gamma')).to eq(everything('alpha', 'beta', 'gamma'))
    nodes.deactivate('alpha')
    expect(nodes.run('beta', exports: false)).to eq(everything('gamma'))
    expect(%w[sshkey host mark].map { |type| estate.exports.all(type).keys }.uniq).to eq([['gamma']])
    expect_secrets_in_exports_alone
  end

  def expect_secrets_in_exports_alone
    expect(estate.exports.of('gamma')['mark'].to_s).to include(EstateNodes::SECRET)
    expect([*nodes.outputs, *traces].grep(/#{EstateNodes::SECRET}/)).to eq([])
  end
end
