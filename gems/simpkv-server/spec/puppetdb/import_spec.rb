# frozen_string_literal: true

require_relative '../../../simpkv-estate/spec/estate/exports_helper'
require_relative '../../../../spec/support/command'
require_relative '../support/query_estate'
require_relative 'puppetdb_helper'

# `simpkv import-puppetdb` from a real PuppetDB with PostgreSQL, and a compiler that collects with the termini simpkv.
# gems/simpkv-estate/spec/command/import_puppetdb_spec.rb has its options, and servers that fail.
RSpec.describe 'simpkv import-puppetdb, from a PuppetDB' do
  include EstateSite

  include_context 'with the command'

  let(:config) { File.join(scratch, 'simpkv.yaml') }

  include_context 'with a PuppetDB'

  # @return [Hash{String => Object}] the summary
  def import!(*arguments, url: @puppetdb.uri)
    outcome = simpkv('import-puppetdb', url, *arguments, '-o', 'json')
    expect(outcome).to have_attributes(code: 0)
    JSON.parse(outcome.out)
  end

  # Stores a node that exports resources.
  def exporting(certname, *resources, facts: { 'kernel' => 'Linux' }, environment: 'production')
    @puppetdb.replace_facts(certname, facts, environment: environment)
    @puppetdb.replace_catalog(certname, resources, environment: environment)
  end

  # @return [Hash] an exported resource
  def exported(type, title, parameters = {}, tags = [])
    PuppetDB.exported(type, title, parameters, tags)
  end

  it 'stores what a collector collected from PuppetDB' do
    add_manifest('site::host', 'define site::host($ip = undef, $host_aliases = []) {}')
    exporting('web1', exported('Site::Host', 'web1', { 'ip' => '192.0.2.1', 'host_aliases' => %w[b a] }, %w[web dmz]),
              exported('Site::Host', 'www', 'ip' => '192.0.2.1'), exported('File', '/web1', 'mode' => '0644'))
    exporting('web2', exported('Site::Host', 'web2', { 'ip' => '192.0.2.2' }, ['web']), environment: 'dev')
    exporting('web3', exported('Site::Host', 'web3', 'ip' => '192.0.2.3').merge('exported' => false))
    import!
    catalog = run_node('web3', 'Site::Host <<| |>>')
    expect(titles(catalog, 'Site::Host')).to contain_exactly('web1', 'www', 'web2')
    host = catalog.resource('Site::Host[web1]')
    expect(host.to_hash).to include(ip: '192.0.2.1', host_aliases: %w[b a])
    expect(host).to have_attributes(file: '/etc/puppet/code/site.pp', line: 1)
    expect(titles(run_node('web3', "Site::Host <<| tag == 'dmz' |>>"), 'Site::Host')).to eq(['web1'])
    expect(titles(run_node('web3', "Site::Host <<| ip == '192.0.2.2' |>>"), 'Site::Host')).to eq(['web2'])
    expect(titles(run_node('web1', 'Site::Host <<| |>>'), 'Site::Host')).to eq(['web2'])
    expect(warnings).to be_empty
  end

  it 'stores parameters as PuppetDB has them' do
    parameters = { 'number' => 42, 'float' => 1.5, 'text' => '42', 'flag' => true, 'list' => [1, [nil, { 'a' => nil }]],
                   'hash' => { '__ptype' => 'Binary', '__pvalue' => 'x' }, 'letters' => "\u00e9\u{1f600}" }
    add_manifest('thing', "define thing(#{parameters.keys.map { |name| "$#{name} = undef" }.join(', ')}) {}")
    exporting('params', exported('Thing', 'x', parameters, ['params']))
    import!
    collected = run_node('other', "Thing <<| tag == 'params' |>>").resource('Thing[x]')
    expect(collected.to_hash.transform_keys(&:to_s)).to include(parameters)
  end

  it 'stores references as text, with which relationships work' do
    exporting('related', exported('Notify', 'after', 'require' => ['File[/related]', 'Notify[first]']))
    import!
    manifest = "file { '/related': } notify { 'first': } Notify <<| title == 'after' |>>"
    graph = run_node('other', manifest).to_ral.relationship_graph
    after = graph.vertices.find { |resource| resource.ref == 'Notify[after]' }
    expect(graph.direct_dependencies_of(after).map(&:ref)).to include('File[/related]', 'Notify[first]')
  end

  it 'stores reports whole' do
    @puppetdb.replace_facts('web1', { 'kernel' => 'Linux' })
    sent = QueryEstate::REPORTS.first
    @puppetdb.client.submit('store report', 8, 'web1', sent)
    import!
    report, = estate.reports.with_details('web1', estate.reports.all('web1'))
    expect(report).to include('status' => 'failed', 'time' => '2026-11-20T10:00:00Z', 'producer' => 'puppet1',
                              'transaction_uuid' => sent['transaction_uuid'], 'times' => { 'total' => 1.25 })
    expect(report['events'].map { |event| event.values_at('resource', 'status', 'message') })
      .to eq([['Service[nginx]', 'failure', 'could not start'], ['File[/var/www]', 'skipped', nil]])
    expect(report['values']).to eq([{ 'old' => 'stopped', 'new' => 'running' }, nil])
    expect(report['logs'].map { |line| line['message'] }).to eq(['Applied catalog'])
  end

  it 'stores facts, packages, trusted facts and times' do
    at = Time.utc(2026, 11, 20, 10)
    facts = { 'kernel' => 'Linux', 'os' => { 'family' => 'Debian' }, 'n' => [1, 1.5, nil, true], 'uptime' => '1 day' }
    packages = [%w[bash 5.2 apt], %w[rake 13 gem]]
    more = { 'package_inventory' => packages.reverse }
    all = facts.merge('trusted' => { 'certname' => 'facts' })
    @puppetdb.replace_facts('facts', all, environment: 'dev', at: at, more: more)
    import!
    values = facts.slice('kernel', 'os', 'n').merge('_puppet_inventory_1' => { 'packages' => packages })
    expect(estate.facts.find('facts'))
      .to eq('values' => values, 'trusted' => { 'certname' => 'facts' },
             'timestamp' => '2026-11-20T10:00:00Z', 'producer' => 'puppet',
             'producer_timestamp' => '2026-11-20T10:00:00.000Z')
    expect(estate.inventory.get('facts')).to include('environment' => 'dev', 'facts' => { 'os.family' => 'Debian' })
    expect(estate.statuses.get('facts')).to include('environment' => 'dev', 'last_seen' => match(/\A2026-.*Z\z/))
  end

  it 'omits nodes that are not active' do
    exporting('gone', exported('Notify', 'gone'))
    @puppetdb.deactivate('gone')
    import!
    expect(estate.facts.find('gone')).to be_nil
    expect(estate.exports.of('gone')).to be_empty
  end

  it 'writes nothing if it runs again' do
    exporting('again', exported('Notify', 'again', 'message' => 'hello'))
    import!
    documents = estate.store.tree('globals')[:keys]
    expect(import!).to include('stored' => 0, 'documents stored' => 0, 'failed' => 0)
    expect(estate.store.tree('globals')[:keys]).to eq(documents)
  end

  it 'reads PuppetDB over TLS, with a certificate that PuppetDB accepts' do
    certificate, key = @puppetdb.certificates.issue(subject: 'importer')
    ca = ['--cacert', @puppetdb.certificates.cacert]
    expect(import!(*ca, '--cert', certificate, '--key', key, url: @puppetdb.tls_uri)).to include('failed' => 0)
    expect(simpkv('import-puppetdb', @puppetdb.tls_uri, *ca)).to have_attributes(code: 69, err: /its version: TLS: /)
    expect(simpkv('import-puppetdb', @puppetdb.tls_uri)).to have_attributes(code: 69, err: /certificate verify failed/)
  end
end
