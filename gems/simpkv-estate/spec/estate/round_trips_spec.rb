# frozen_string_literal: true

require_relative 'exports_helper'
require_relative 'termini_helper'
require_relative '../../../../spec/support/burst_proxy'
require_relative '../../../../spec/support/ldap_store'

# The steps of a run as a server takes them, over a directory.
RSpec.describe 'The round trips of a run' do
  include EstateSite
  include EstateTermini

  include_context 'with slapd'

  let(:proxy) { BurstProxy.new(directory.tcp_uri) }
  let(:backend) { { 'type' => 'ldap' }.merge(directory.options('ldap_uri' => proxy.uri, 'id' => id, 'retries' => 0)) }
  let(:facts) { { 'os' => { 'name' => 'Debian' }, 'uptime' => rand(1_000_000) } }
  let(:manifest) { "@@user { 'felix': uid => 1001 } @@group { 'staff': } notify { 'a': }" }
  let(:statedir) { Dir.mktmpdir('simpkv-state') }

  before do
    Puppet[:statedir] = statedir
    Puppet[:reports] = 'simpkv'
    route(:facts, terminus: :memory, cache: :store_configs)
    route(:report, terminus: :processor)
    # A new report goes into each slot, so that the next one replaces one.
    6.times { run }
  end

  after do
    proxy.stop
    FileUtils.remove_entry(statedir)
  end

  def run(facts: self.facts, manifest: self.manifest)
    save_facts(facts)
    save_catalog(manifest)
    report
  end

  def save_facts(facts = self.facts)
    Puppet::Node::Facts.indirection.save(Puppet::Node::Facts.new('web1', facts))
  end

  def save_catalog(manifest = self.manifest)
    save('web1', compile('web1', manifest))
  end

  def report
    Puppet[:node_name_value] = 'web1'
    report = Puppet::Transaction::Report.new(1, 'production', 'uuid')
    report.transaction_completed = true
    report.finalize_report
    Puppet::Transaction::Report.indirection.save(report)
  end

  # The second one reads the facts and the exports of two types, to store again what is damaged, and what options the
  # estate records.
  it 'are seven if nothing has changed, with two documents written' do
    expect(proxy.hold([1, 4, 1, 1, 1, 1, 1]) { run })
      .to eq([%i[search], %i[search search search search], %i[search], *[%i[search], %i[modify]] * 2])
    expect(warnings).to eq([])
    expect(estate.statuses.get('web1')['runs']).to eq(7)
  end

  it 'are two more for the first run of a process, for the base entry and what options the estate records' do
    configure
    expect(proxy.hold([1, 1, 1, 4]) { save_facts }).to eq([*[%i[search]] * 3, %i[search search search search]])
  end

  it 'are none for the exported resources if they have not changed' do
    save_facts
    expect(proxy.hold([]) { save_catalog }).to eq([])
  end

  it 'are three for a report with reports: 0, with one document written' do
    configure('reports' => 0)
    report
    expect(proxy.hold([1, 1, 1]) { report }).to eq([%i[search], %i[search], %i[modify]])
  end

  # Without a report, the catalog writes the time of the run.
  it 'are five without reports, with one document written' do
    Puppet[:reports] = 'store'
    expect(proxy.hold([1, 4, 1, 1, 1]) { save_facts && save_catalog })
      .to eq([%i[search], %i[search search search search], %i[search], %i[search], %i[modify]])
  end

  it 'are six more for facts that have changed' do
    requests = proxy.hold([1, 4, 1, 1, 1, 1, 1, 1]) { save_facts(facts.merge('cores' => 8)) }
    expect(requests).to eq([%i[search], %i[search search search search], *[%i[search], %i[modify]] * 3])
  end

  { 'one more for a declared node' => ['web1', 1], 'three more for a node that is not declared' => ['web2', 3] }
    .each do |text, (certname, count)|
    it "are #{text}, with the terminus simpkv of nodes" do
      route(:node, terminus: :simpkv)
      estate.nodes.declare('web1', 'classes' => ['site'])
      more = { environment: Puppet::Node::Environment.create(:production, []),
               facts: Puppet::Node::Facts.new(certname, facts) }
      expect(proxy.hold([]) { Puppet::Node.indirection.find(certname, more) }).to eq([%i[search]] * count)
    end
  end

  it 'are one more for each type that a catalog collects, however many collectors it has, and one a minute' do
    collectors = 'User <<| |>> User <<| uid == 1001 |>> User <<| tag == x or title == y |>>'
    rounds = Array.new(2) { proxy.hold([]) { compile('web2', "#{collectors} Group <<| |>>") } }
    expect(rounds).to eq([[%i[search]] * 3, [%i[search]] * 2])
  end

  it 'are one more for all queries of a catalog' do
    queries = "simpkv::query_nodes() simpkv::query_nodes({ 'certname' => 'web1' }, ['os.name'])"
    FileUtils.mkdir_p(modules)
    File.symlink(File.expand_path('../../../..', __dir__), File.join(modules, 'simpkv'))
    expect(proxy.hold([]) { compile('web2', queries) }).to eq([%i[search]])
  end
end
