# frozen_string_literal: true

require 'open3'
require 'simpkv/estate'
require_relative '../../../../spec/support/certificates'
require_relative '../../../../spec/support/eventually'
require_relative '../../../../spec/support/scratch'
require_relative '../support/archives'
require_relative '../support/query_estate'
require_relative '../support/service'

# Clients of PuppetDB, unchanged, as RubyGems, npm and Debian have them: the stage `clients` installs them into
# CLIENTS_HOME. The table in docs/query.md names them. pypuppetdb's queries and puppetdb_query are in
# spec/server/pdb_clients_spec.rb, Bolt is in spec/bolt.
RSpec.describe 'A client of PuppetDB', needs: :cext do
  include Eventually

  before(:context) do
    @folder = Scratch.make('clients')
    certificates = Certificates.new(@folder, rsa: true)
    Dir.mkdir("#{@folder}/store")
    Simpkv::Store.open('file', 'root_path' => "#{@folder}/store")
    site = site(certificates)
    Simpkv::Estate.new(site).make
    @service = Service.new(site, *%w[--bind ssl://127.0.0.1:0 --bind tcp://127.0.0.1:0 --local-write])
    @service.start
    store_nodes
    @environment = environment(certificates)
  end

  after(:context) do
    @service&.stop
    FileUtils.remove_entry(@folder)
  end

  def site(certificates)
    certificate, key = certificates.issue
    rights = [{ 'certname' => 'client', 'methods' => %w[GET POST], 'paths' => ['/pdb/**', '/status/**'] }]
    { 'backends' => { 'default' => { 'type' => 'file', 'id' => 'spec', 'root_path' => "#{@folder}/store" } },
      'estate' => { 'catalogs' => true },
      'server' => { 'tls_cert' => certificate, 'tls_key' => key, 'tls_ca' => certificates.cacert,
                    'index' => "#{@folder}/index", 'rights' => rights } }
  end

  def store_nodes
    QueryEstate::FACTS.each_key { |certname| submit('replace_facts', 5, QueryEstate.facts(certname)) }
    QueryEstate::RESOURCES.each_key { |certname| submit('replace_catalog', 9, QueryEstate.catalog(certname)) }
    QueryEstate::REPORTS.each { |report| submit('store_report', 8, report) }
    eventually(errors: RuntimeError) { local.get('/pdb/query/v4/nodes').data.length == 6 }
  end

  def submit(command, version, payload)
    parameters = { 'command' => command, 'version' => version, 'certname' => payload.fetch('certname') }
    response = local.post("/pdb/cmd/v1?#{URI.encode_www_form(parameters)}", payload,
                          'Content-Type' => 'application/json')
    raise response.body unless response.status == 200
  end

  def local
    @service.client('tcp')
  end

  # Choria looks for the name of its user in the certificate.
  def environment(certificates)
    certificate, key = certificates.issue(subject: 'client', names: 'DNS:client')
    gems = "#{home}/gems"
    clean = ENV.to_h.select { |name, _| name.start_with?('BUNDLE', 'RUBY', 'GEM') }.transform_values { nil }
    { **clean, 'HTTP' => address('tcp', 'http'), 'HTTPS' => address('ssl', 'https'), 'CA' => certificates.cacert,
               'CERT' => certificate, 'KEY' => key, 'HOME' => @folder, 'MCOLLECTIVE_CERTNAME' => 'client',
               'GEM_PATH' => [gems, *Gem.default_path].join(':'), 'NODE_PATH' => "#{home}/npm/node_modules",
               'PYTHONPATH' => nil }
  end

  def home
    ENV.fetch('CLIENTS_HOME') { raise 'CLIENTS_HOME must name the folder of the clients: run `bin/test clients`' }
  end

  def address(kind, scheme)
    @service.addresses.grep(/\A#{kind}/).first.sub(kind, scheme)
  end

  # @return [Object] what a program prints in JSON
  def answers(*command)
    output, errors, status = Open3.capture3(@environment, *command)
    raise "#{output}#{errors}" unless status.success?

    JSON.parse(output)
  end

  # @param name [String] of a program in this folder
  def program(interpreter, name)
    answers(interpreter, File.expand_path("programs/#{name}", __dir__))
  end

  # @param name [String] of a program of a gem
  def gem_program(name, *arguments)
    answers(RbConfig.ruby, "#{home}/gems/bin/#{name}", *arguments)
  end

  it 'in Ruby, puppetdb-ruby, sends commands and asks' do
    expect(program(RbConfig.ruby, 'puppetdb_ruby.rb'))
      .to match('command' => { 'uuid' => a_kind_of(String) }, 'nodes' => contain_exactly('web1', 'web2'), 'page' => 1,
                'refused' => /'colour' is not a queryable object for nodes/)
    eventually(errors: RuntimeError) { local.get('/pdb/query/v4/nodes/sent').status == 200 }
  end

  it 'in Ruby, puppetdb_query, reads nodes and facts' do
    found = program(RbConfig.ruby, 'puppetdb_query.rb')
    expect(found['nodes']).to include('web1', 'db1')
    expect(found['facts of web1']).to include('kernel' => 'Linux')
    expect(found['facts']['web2']).to include('text_number' => 42)
    expect([found['changed'], found['properties'].keys]).to all(include('web1'))
  end

  it 'on the command line, puppet query, asks in both languages' do
    pql = 'nodes[certname] { certname = "web1" }'
    tls = { '--cacert' => 'CA', '--cert' => 'CERT', '--key' => 'KEY' }.transform_values { |name| @environment[name] }
    expect(gem_program('puppet-query', '--urls', @environment['HTTPS'], *tls.to_a.flatten, pql))
      .to eq([{ 'certname' => 'web1' }])
    ast = '["from","nodes",["extract","certname",["=","certname","web2"]]]'
    expect(gem_program('puppet-query', '--urls', @environment['HTTP'], ast)).to eq([{ 'certname' => 'web2' }])
  end

  it 'on the command line, puppet db, tells the status, exports and imports' do
    status = gem_program('puppet-db', '--urls', @environment['HTTP'], 'status')
    expect(status.values.first['puppetdb-status']).to include('state' => 'running')
    archive = "#{@folder}/archive.tgz"
    command = [RbConfig.ruby, "#{home}/gems/bin/puppet-db", '--urls', @environment['HTTP']]
    %w[export import].each do |name|
      output, result = Open3.capture2e(@environment, *command, name, archive)
      expect([result.exitstatus, output]).to match([0, /INFO: Starting #{name}/])
    end
    expect(Archives.files(File.binread(archive)).length).to be > 10
  end

  it 'in Ruby, octocatalog-diff, reads a catalog, facts and packages' do
    expect(program(RbConfig.ruby, 'octocatalog_diff.rb'))
      .to match('resources' => include(%w[Package nginx], %w[Class Nginx]), 'kernel' => 'Linux',
                'packages' => contain_exactly(%w[bash 5.2 apt], %w[rake 13.0 gem]))
  end

  it 'in Ruby, Choria, discovers nodes' do
    expect(program(RbConfig.ruby, 'choria.rb'))
      .to match('nodes' => contain_exactly('web1', 'web2'), 'refused' => /line 1, column \d+/)
  end

  it 'in JavaScript, Backstage, makes a catalog of nodes' do
    expect(program('node', 'backstage.cjs')).to contain_exactly(['web1', %w[linux]], ['web2', %w[linux]])
  end

  it 'in Python, pypuppetdb, sends commands' do
    expect(program('/usr/bin/python3', 'python_command.py')).to match('uuid' => a_kind_of(String))
    eventually(errors: RuntimeError) { local.get('/pdb/query/v4/nodes/python').status == 200 }
  end
end
