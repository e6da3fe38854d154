# frozen_string_literal: true

require_relative '../server/server_helper'
require_relative '../../../../spec/support/wire_formats'
require_relative '../support/archives'
require_relative 'puppetdb_helper'

# The way back: an archive of a service of simpkv, in a PuppetDB.
RSpec.describe 'The archive of simpkv serve', needs: :cext do
  include WireFormats

  include_context 'with a service', '--bind', 'tcp://127.0.0.1:0', '--local-write'
  include_context 'with a PuppetDB'

  let(:options) { { 'backends' => backends, 'estate' => { 'catalogs' => true } } }
  let(:estate) { Simpkv::Estate.new(options) }
  let(:client) { service.client('tcp') }
  let(:long) { "#{'a' * 80}.example.com" }

  # What a service and a PuppetDB answer without their own hashes and times of receipt.
  let(:questions) do
    { 'facts' => %w[certname name value environment], 'package-inventory' => %w[certname package_name version provider],
      'resources' => %w[certname type title exported tags parameters file line], 'edges' => %w[certname relationship],
      'catalogs' => %w[certname version environment],
      'reports' => %w[certname status transaction_uuid puppet_version report_format noop start_time],
      'events' => %w[certname status resource_title property message timestamp old_value new_value containing_class] }
  end

  before { make_estate }

  # Other specs collect from the same PuppetDB.
  after { ['archived1', 'archived2', long].each { |certname| @puppetdb.deactivate(certname) } }

  def submit(command, payload, version)
    parameters = { 'command' => command, 'version' => version, 'certname' => payload['certname'] }
    response = client.post("/pdb/cmd/v1?#{URI.encode_www_form(parameters)}", payload,
                           'Content-Type' => 'application/json')
    expect(response.status).to eq(200)
  end

  def store_nodes
    facts = facts_payload('archived1', 'kernel' => 'Linux', 'list' => [1, nil, { 'a' => 2**64 }])
    submit('replace_facts', facts.merge('package_inventory' => [%w[bash 5.2 apt]]), 5)
    resources = [resource('Class', 'main'), resource('File', "/etc/a\nb", { 'ensure' => 'file' }, 'tags' => %w[file]),
                 resource('Site::Host', 'www', { 'ip' => '192.0.2.1' }, 'exported' => true)]
    submit('replace_catalog', catalog_payload('archived1', resources, [edge(%w[Class main], ['File', "/etc/a\nb"])]), 9)
    log = { 'level' => 'err', 'message' => 'it failed', 'source' => 'Puppet', 'tags' => %w[err], 'file' => '/x.pp',
            'line' => 3, 'time' => '2026-11-29T08:00:00.123Z' }
    submit('store_report', report_payload('archived1', { 'property' => 'mode' }).merge('logs' => [log]), 8)
    submit('replace_facts', facts_payload(long, 'kernel' => 'Linux'), 5)
    estate.exports.save('archived2', { 'site::host' => [{ 'title' => 'db', 'parameters' => {}, 'tags' => %w[x] }] },
                        'production')
  end

  # @yieldparam path [String]
  # @yieldreturn [String] JSON
  # @return [Hash{String => Array<Array>}] rows, sorted
  def answers
    questions.to_h do |entity, fields|
      query = JSON.generate(['extract', fields, ['in', 'certname', ['array', ['archived1', 'archived2', long]]]])
      rows = JSON.parse(yield("/pdb/query/v4/#{entity}?#{URI.encode_www_form('query' => query)}"))
      [entity, rows.map { |row| row.values_at(*fields).map { |value| in_order(value) } }.sort_by(&:to_s)]
    end
  end

  # Tags have no order.
  def in_order(value)
    value.is_a?(Array) ? value.sort_by(&:to_s) : value
  end

  def of_puppetdb
    answers { |path| Net::HTTP.get(URI("#{@puppetdb.uri}#{path}")) }
  end

  it 'is imported by a PuppetDB, which answers the same then' do
    store_nodes
    eventually(errors: RuntimeError) { client.get('/pdb/query/v4/nodes').data.length == 3 }
    ours = answers { |path| client.get(path).body }
    body, headers = Archives.upload(client.get('/pdb/admin/v1/archive').body)
    expect(Net::HTTP.post(URI("#{@puppetdb.uri}/pdb/admin/v1/archive"), body, headers).body).to match(/"ok" ?: ?true/)
    # PuppetDB queues the commands.
    eventually(errors: RuntimeError) { of_puppetdb['reports'].any? && of_puppetdb['facts'].length >= 3 }
    theirs = of_puppetdb
    # What a node exports whose catalog is not stored is a catalog for PuppetDB.
    expect(theirs['catalogs'].map(&:first)).to eq(%w[archived1 archived2])
    expect(theirs.merge('catalogs' => theirs['catalogs'].first(1))).to eq(ours)
  end
end
