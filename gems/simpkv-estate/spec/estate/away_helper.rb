# frozen_string_literal: true

require_relative 'inspection_helper'
require_relative '../../../../spec/support/cuttable_proxy'
require_relative '../../../../spec/support/eventually'
require_relative '../../../../spec/support/ldap_store'

# The network to the server of writes is a proxy here, which can be cut; another server, the same slapd, answers reads.
RSpec.shared_context 'with a writer that can be cut' do
  include EstateSite
  include EstateTermini
  include Eventually
  include InspectedNodes

  include_context 'with slapd'

  let(:network) { CuttableProxy.new(directory.tcp_uri) }
  let(:backend) do
    { 'type' => 'ldap' }.merge(directory.options('ldap_uri' => [directory.tcp_uri, network.uri], 'id' => id,
                                                 'write_uri' => network.uri, 'retries' => 0))
  end
  let(:exporting) { "@@user { 'felix': uid => 1001 }" }

  before do
    Puppet[:reports] = 'simpkv'
    route(:facts, terminus: :memory, cache: :store_configs)
    route(:report, terminus: :processor)
    route(:node, terminus: :simpkv)
    run
  end

  after { network.stop }

  # All that a run of a node does on a server.
  #
  # @return [Puppet::Resource::Catalog]
  def run(certname = 'web1', manifest = exporting, more = {})
    Puppet::Node::Facts.indirection.save(facts(certname, more))
    catalog = compile_found(certname, manifest)
    save(certname, catalog)
    report(certname)
    catalog
  end

  def report(certname)
    Puppet[:node_name_value] = certname
    report = Puppet::Transaction::Report.new(nil, 'production', 'uuid')
    report.host = certname
    report.finalize_report
    Puppet::Transaction::Report.indirection.save(report)
  end

  # Kills the connections to the server of writes. The examples before have made no mistake that a warning tells.
  def cut
    messages.clear
    network.cut
  end

  # Heals the network, and runs a node until it drops nothing: the pool tries the server again after a while.
  def heal
    network.heal
    eventually do
      messages.clear
      yield
      warnings.empty?
    end
  end

  def refused(&run)
    expect(&run).to raise_error(Puppet::Error, /simpkv estate: could not/)
  end

  # @return [Hash{String => String}] all documents of the estate
  def documents
    store = Simpkv::LdapAccess.open(Simpkv::Config.typed(backend.reject { |name, _| name == 'write_uri' }, 'default'))
    store.tree('globals/estate')[:keys]
  ensure
    store&.close
  end
end
