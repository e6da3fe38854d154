# frozen_string_literal: true

require 'open3'
require_relative 'server_helper'
require_relative '../../../../spec/support/certificates'
require_relative '../support/puppetdb_terminus'

# Clients of PuppetDB, as Debian has them.
RSpec.describe 'A client of PuppetDB', tools: true do
  include_context 'with a service', '--bind', 'tcp://127.0.0.1:0'

  let(:estate) { Simpkv::Estate.new(options) }

  before do
    estate.make
    save('web1', 'kernel' => 'Linux', 'os' => { 'family' => 'Debian' })
    save('web2', 'kernel' => 'Linux', 'os' => { 'family' => 'RedHat' })
    hosts = { 'title' => '/etc/hosts', 'parameters' => { 'ensure' => 'file' }, 'tags' => %w[file] }
    estate.exports.save('web1', { 'file' => [hosts] }, 'production')
    estate.reports.save('web1', report)
  end

  def save(certname, facts)
    estate.facts.save(certname, facts)
    estate.statuses.put(certname, 'last_seen' => Time.now.utc.iso8601, 'environment' => 'production',
                                  'status' => 'changed', 'changes' => 1, 'failures' => 0)
  end

  def report
    events = [{ 'status' => 'success', 'resource_type' => 'File', 'title' => '/etc/hosts', 'property' => 'ensure',
                'message' => 'created', 'time' => Time.now.utc.iso8601 }]
    { 'status' => 'changed', 'time' => Time.now.utc.iso8601, 'environment' => 'production',
      'configuration_version' => '1', 'puppet_version' => '8.0', 'noop' => false, 'events' => events }
  end

  # @return [Hash{String => Object}]
  def pypuppetdb
    service.client
    answers = File.expand_path('../support/pypuppetdb_answers.py', __dir__)
    port = service.addresses.grep(/\Atcp/).first[/\d+\z/]
    output, status = Open3.capture2e({ 'PYTHONPATH' => nil }, '/usr/bin/python3', answers, port)
    raise output unless status.success?

    JSON.parse(output)
  end

  def expect_answers(answers)
    expect(answers).to include(
      'nodes' => %w[web1 web2], 'query' => %w[web1], 'page' => %w[web2], 'total' => 2, 'node fact' => 'Linux',
      'node facts' => include('kernel' => 'Linux'), 'facts' => include('web2' => { 'family' => 'RedHat' }),
      'fact names' => include('kernel', 'os'), 'fact paths' => include(%w[os family]), 'factsets' => %w[web1 web2],
      'inventory' => { 'web1' => 'Debian', 'web2' => 'RedHat' }, 'resources' => [%w[web1 File /etc/hosts]],
      'environments' => %w[production], 'reports' => [%w[web1 changed]], 'events' => %w[created],
      'event counts' => [1], 'aggregate event counts' => [1], 'edges' => [], 'status' => 'running',
      'metric' => { 'Value' => 2 }, 'with status' => include('web1' => 'changed'), 'refused' => 400
    )
  end

  it 'in Python, pypuppetdb, asks about an estate in files' do
    expect_answers(pypuppetdb)
  end

  context 'with a directory' do
    include_context 'with slapd'
    let(:backends) { { 'default' => directory.options('type' => 'ldap', 'id' => id) } }
    let(:store) { open_store }

    it 'in Python, pypuppetdb, asks about an estate in a directory' do
      expect_answers(pypuppetdb)
    end
  end

  context 'over TLS' do
    include_context 'with a service', '--bind', 'ssl://127.0.0.1:0'

    let(:certificates) { Certificates.new(File.dirname(@root)) }
    let(:section) do
      certificate, key = certificates.issue
      { 'tls_cert' => certificate, 'tls_key' => key, 'tls_ca' => certificates.cacert,
        'rights' => [{ 'certname' => 'compiler', 'methods' => ['GET'], 'paths' => ['/pdb/query/**'] }] }
    end

    def notices(manifest, subject)
      service.client
      url = service.addresses.grep(/\Assl/).first.sub('ssl', 'https')
      puppet = PuppetDBTerminus.new(File.join(File.dirname(@root), 'puppet'), certificates, url, subject)
      puppet.run('apply', '-e', manifest).first
    end

    it 'in manifests, puppetdb_query, asks in both languages' do
      output = notices(<<~PUPPET, 'compiler')
        $debian = puppetdb_query('inventory[certname] { facts.os.family = "Debian" }')
        $all = puppetdb_query(['from', 'nodes', ['extract', ['certname'], ['~', 'certname', 'web']]])
        notice($debian.map |$row| { $row['certname'] })
        notice($all.map |$row| { $row['certname'] }.sort)
      PUPPET
      expect(output).to include('[web1]').and include('[web1, web2]')
    end

    it 'in manifests, puppetdb_query, is told what is wrong' do
      expect(notices("puppetdb_query('nodes[certname] { certname = ')", 'compiler')).to match(/line 1, column \d+/)
      expect(notices("puppetdb_query('nodes { }')", 'stranger')).to match(/403|may not/)
    end
  end
end
