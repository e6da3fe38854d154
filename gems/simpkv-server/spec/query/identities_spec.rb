# frozen_string_literal: true

require 'simpkv/query/session'
require_relative '../../../../spec/support/scratch'
require_relative '../../../../spec/support/slapd'

# Two identities of a directory use the index as the same user of the machine.
RSpec.describe 'The index of queries with two identities' do
  let(:parent) { Scratch.make('simpkv-index') }

  after { FileUtils.remove_entry(parent) }

  def rules
    reports = "ou=reports,ou=estate,ou=globals,ou=spec,ou=instances,#{Slapd::BASE_DN}"
    [reports, Slapd::BASE_DN].zip(%w[none read]).map do |dn, right|
      %(access to dn.subtree="#{dn}" by dn.exact="#{Slapd::USER_DN}" write by dn.exact="#{Slapd::STRANGER_DN}" #{right})
    end.join("\n")
  end

  def estate_of(server, identity)
    backend = server.options('type' => 'ldap', 'admin_dn' => identity)
    Simpkv::Estate.new({ 'backends' => { 'default' => backend }, 'estate' => {} })
  end

  def reports(estate)
    options = Simpkv::Config::Sections.convert({ 'server' => { 'index' => File.join(parent, 'index') } }, 'server')
    Simpkv::Query::Session.new(estate, options).rows('reports[certname] { }')
  end

  it 'answers nobody from what another one may read' do
    Slapd.run(rules: rules) do |server|
      administrator = estate_of(server, Slapd::USER_DN)
      administrator.make
      administrator.reports.save('web1', 'status' => 'changed', 'environment' => 'production')

      expect(reports(administrator)).to eq([{ 'certname' => 'web1' }])
      stranger = estate_of(server, Slapd::STRANGER_DN)
      expect { reports(stranger) }.to raise_error(Simpkv::Estate::MissingError, %r{estate/reports})
      expect(reports(administrator)).to eq([{ 'certname' => 'web1' }])
    end
  end
end
