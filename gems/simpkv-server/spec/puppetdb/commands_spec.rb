# frozen_string_literal: true

require_relative '../server/server_helper'
require_relative '../../../../spec/support/certificates'
require_relative '../support/puppetdb_terminus'

# A site that has changed one URL in puppetdb.conf: Puppet with PuppetDB's own terminus, and a service of simpkv.
# spec/server/pdb_commands_spec.rb has the rest of the commands.
RSpec.describe "PuppetDB's terminus with simpkv serve", needs: :cext do
  include_context 'with a service', '--bind', 'ssl://127.0.0.1:0'

  let(:certificates) { Certificates.new(File.dirname(@root)) }
  let(:section) do
    certificate, key = certificates.issue
    { 'tls_cert' => certificate, 'tls_key' => key, 'tls_ca' => certificates.cacert,
      'rights' => [{ 'certname' => 'compiler', 'methods' => %w[GET POST], 'paths' => ['/pdb/**', '/status/**'] }] }
  end
  let(:estate) { Simpkv::Estate.new(options) }
  let(:site) { File.join(File.dirname(@root), 'site') }
  let(:puppet) { terminus('compiler') }

  before { make_estate }

  def terminus(subject)
    service.client
    url = service.addresses.grep(/\Assl/).first.sub('ssl', 'https')
    PuppetDBTerminus.new(File.join(File.dirname(@root), subject), certificates, url, subject)
  end

  def apply!(certname, manifest)
    output, code = puppet.apply(certname, manifest)
    raise output unless code.zero?

    expect(output).to include('Applied catalog')
    expect(output).not_to match(/^(?:Warning|Error): (?!Facter)/)
    output
  end

  # @return [Array] the rows, when the index has something
  def query(text)
    rows = []
    eventually(errors: RuntimeError) do
      rows = service.client.get("/pdb/query/v4?#{URI.encode_www_form('query' => text)}").data
      rows.any?
    end
    rows
  end

  def file(name)
    File.join(site, name)
  end

  # As an agent of Puppet Enterprise tells what packages its node has.
  def add_packages
    folder = FileUtils.mkdir_p(File.join(File.dirname(@root), 'compiler', 'vardir', 'lib', 'facter')).first
    inventory = "{ 'packages' => [%w[bash 5.2 apt]] }"
    File.write(File.join(folder, 'inventory.rb'), "Facter.add('_puppet_inventory_1') { setcode { #{inventory} } }\n")
  end

  shared_examples 'a site' do
    it 'exports on one node, collects on another, and deactivates a node' do
      FileUtils.mkdir_p(site)
      add_packages
      apply!('web1', "@@file { '#{file('web1')}': ensure => file, content => 'of web1', tag => 'site' }")
      apply!('web2', "@@file { '#{file('web2')}': ensure => file, content => 'of web2', tag => 'other' }")
      query('resources { exported = true and certname = "web1" }')
      apply!('web2', "File <<| tag == 'site' |>>\n@@file { '#{file('web2')}': ensure => file, tag => 'site' }")
      expect(Dir.children(site)).to contain_exactly('web1', 'web2')
      expect(File.read(file('web1'))).to eq('of web1')
      expect(query('facts[certname, value] { name = "kernel" }').map { |row| row['certname'] }.uniq.sort)
        .to eq(%w[web1 web2])
      expect(query('package_inventory[package_name, version, provider] { certname = "web1" }').map(&:values))
        .to eq([%w[bash 5.2 apt]])
      expect(query('reports[certname, status] { certname = "web2" and status = "changed" }').length).to be >= 1
      output, code = puppet.run('node', 'deactivate', 'web1')
      expect([code, output]).to match([0, /web1/])
      expect(estate.inventory.current.keys).to eq(%w[web2])
      eventually(errors: RuntimeError) { query('nodes[certname] { }') == [{ 'certname' => 'web2' }] }
    end
  end

  it_behaves_like 'a site'

  context 'with a directory' do
    include_context 'with slapd'
    let(:backends) { { 'default' => directory.options('type' => 'ldap', 'id' => id) } }
    let(:store) { open_store }

    it_behaves_like 'a site'
  end

  it 'fails the run of a compiler without a right' do
    output, code = terminus('stranger').apply('web1', 'notify { "a": }')
    expect(code).not_to eq(0)
    expect(output).to match(/403|may not/)
    expect(estate.inventory.names).to be_empty
  end

  it 'stores no Sensitive parameter: the terminus does not send it' do
    apply!('web1', "@@notify { 'a': message => Sensitive('pl4nted'), loglevel => 'info' }")
    expect(estate.exports.of('web1')).to match('notify' => [include('parameters' => { 'loglevel' => 'info' })])
  end
end
