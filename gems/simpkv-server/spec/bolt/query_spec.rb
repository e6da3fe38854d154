# frozen_string_literal: true

require 'simpkv/estate'
require 'yaml'
require_relative '../../../../spec/support/bolt'
require_relative '../../../../spec/support/certificates'
require_relative '../../../../spec/support/scratch'
require_relative '../support/service'

# Bolt takes a service for a PuppetDB. The target named localhost needs no connection.
RSpec.describe 'The plugin puppetdb of Bolt' do
  before(:context) do
    @folder = Scratch.make('bolt')
    site = { 'backends' => { 'default' => { 'type' => 'file', 'id' => 'spec', 'root_path' => "#{@folder}/store" } } }
    store(site)
    @service = Service.new(site.merge('server' => server), '--bind', 'ssl://127.0.0.1:0')
    @service.start
    configure(@service.addresses.grep(/\Assl/).first.sub('ssl', 'https'))
  end

  after(:context) do
    @service&.stop
    FileUtils.remove_entry(@folder)
  end

  def certificates
    # Bolt reads no key but of RSA.
    @certificates ||= Certificates.new(@folder, rsa: true)
  end

  def store(site)
    Dir.mkdir("#{@folder}/store")
    Simpkv::Store.open('file', 'root_path' => "#{@folder}/store")
    estate = Simpkv::Estate.new(site)
    estate.make
    estate.facts.save('localhost', { 'kernel' => 'Linux', 'os' => { 'family' => 'Debian' } })
    estate.facts.save('web1', { 'kernel' => 'Linux', 'os' => { 'family' => 'RedHat' } })
  end

  def server
    certificate, key = certificates.issue
    { 'tls_cert' => certificate, 'tls_key' => key, 'tls_ca' => certificates.cacert, 'index' => "#{@folder}/index",
      'rights' => [{ 'certname' => 'bolt', 'methods' => ['GET'], 'paths' => ['/pdb/query/**'] }] }
  end

  def configure(url)
    certificate, key = certificates.issue(subject: 'bolt')
    puppetdb = { 'server_urls' => [url], 'cacert' => certificates.cacert, 'cert' => certificate, 'key' => key }
    targets = { '_plugin' => 'puppetdb', 'query' => 'inventory[certname] { facts.os.family = "Debian" }',
                'target_mapping' => { 'name' => 'certname', 'vars' => { 'kernel' => 'facts.kernel' } } }
    { 'bolt-project.yaml' => { 'name' => 'demo', 'puppetdb' => puppetdb },
      'inventory.yaml' => { 'groups' => [{ 'name' => 'debian', 'targets' => [targets] }] } }
      .each { |name, content| File.write(File.join(@folder, name), content.to_yaml) }
  end

  # @return [Object] what Bolt prints
  def bolt(*arguments)
    Bolt.run(*arguments, folder: @folder)
  end

  it 'runs a command on the nodes of a query' do
    query = 'nodes[certname] { facts { name = "os" } and certname = "localhost" }'
    items = bolt('command', 'run', 'echo hello', '--query', query).fetch('items')
    expect(items.map { |item| [item['target'], item['status'], item['value']['stdout']] })
      .to eq([%W[localhost success hello\n]])
  end

  it 'makes an inventory of a query, with facts' do
    targets = bolt('inventory', 'show', '--targets', 'debian', '--detail').fetch('targets')
    expect(targets.map { |target| [target['name'], target['vars']] }).to eq([['localhost', { 'kernel' => 'Linux' }]])
  end

  it 'is told what is wrong with a query' do
    expect(bolt('command', 'run', 'true', '--query', 'nodes[certname] {').fetch('msg')).to match(/line 1, column \d+/)
  end
end
