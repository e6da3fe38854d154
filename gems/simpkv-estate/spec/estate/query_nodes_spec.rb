# frozen_string_literal: true

require_relative 'exports_helper'
require_relative 'termini_helper'
require_relative '../../../../spec/support/ldap_store'

Directories.each_server do |server, tags|
  RSpec.describe "Facts, nodes and reports in a directory, #{server}", **tags do
    include EstateSite
    include EstateTermini

    include_context 'with a directory', server

    let(:backend) { { 'type' => 'ldap' }.merge(directory.options('id' => id)) }
    let(:site_options) { { 'indexed_facts' => %w[os.name cores], 'reports' => 2 } }

    before do
      route(:facts, terminus: :memory, cache: :store_configs)
      FileUtils.mkdir_p(modules)
      File.symlink(File.expand_path('../../../..', __dir__), File.join(modules, 'simpkv'))
    end

    def save_facts(certname, values)
      Puppet::Node::Facts.indirection.save(Puppet::Node::Facts.new(certname, values))
    end

    it 'are found by simpkv::query_nodes in a manifest after the nodes have run' do
      { 'web1' => 8, 'web2' => 16, 'db1' => 32 }.each do |certname, cores|
        save_facts(certname, 'cores' => cores, 'os' => { 'name' => 'Debian' }, 'uptime' => 'x')
        run_node(certname, 'notify { "a": }', environment: certname == 'db1' ? 'testing' : 'production')
      end
      manifest = <<-PUPPET
        simpkv::query_nodes([['cores', '>', 8], 'and', ['environment', '==', 'production']], ['cores', 'os.name']).each
        |$name, $found| { notify { "$name ${found['cores']} ${found['os.name']}": } }
        simpkv::query_nodes({ 'certname' => /1$/ }).each |$name| { notify { $name: } }
      PUPPET
      expect(titles(compile('web3', manifest), 'Notify')).to eq(['web2 16 Debian', 'db1', 'web1'])
    end

    it 'keep the last reports, the status and the facts of a node' do
      3.times { |number| estate.reports.save('web1', 'status' => 'changed', 'number' => number) }
      expect(estate.reports.all('web1').map { |report| report['number'] }).to eq([2, 1])
      expect(estate.statuses.get('web1')).to include('runs' => 3)
      expect(estate.reports.delete('web1')).to be(true)
      expect(estate.reports.all('web1')).to eq([])
      facts = { 'a' => "ä\u0000\n", 'b' => { 'c' => [1.5, nil, 2**70] } }
      save_facts('web1', facts)
      Puppet::Node::Facts.indirection.termini.clear
      expect(Puppet::Node::Facts.indirection.find('web1').values).to eq(facts)
    end

    # On 389-DS, two of many writers at the same moment may both succeed (docs/adr/0013).
    if server == Slapd
      it 'end as facts and inventory of one save, if threads save the facts of a node at once' do
        saved = Array.new(3) do |thread|
          Thread.new { 3.times { |number| estate.facts.save('web1', { 'cores' => (thread * 10) + number }) } }
        end
        saved.each(&:join)
        cores = estate.inventory.get('web1')['facts']['cores']
        expect(estate.facts.find('web1')['values']).to eq('cores' => cores)
        expect(cores % 10).to eq(2)
      end
    end
  end
end
