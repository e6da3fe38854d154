# frozen_string_literal: true

require_relative 'estate_helper'

RSpec.describe 'Agents of a puppetserver that keeps an estate', :estate do
  include_context 'with puppetserver'
  include_context 'with the store of an estate'

  attr_reader :directories

  # The stage puppetserver has Slapd in agents_spec.rb, and the stage estate has exports in both.
  servers = { Slapd => { long: true }, Ds389 => {} }

  before(:context) do
    used = servers.reject { |_, tags| tags[:long] && !ENV['LONG'] }.keys
    @directories = used.to_h { |server| [server, server.new(tls: true, limits: true).tap(&:start)] }
  end

  after(:context) { directories&.each_value(&:stop) }

  let(:site) { { 'backends' => { 'default' => backend } } }
  let(:nodes) { ServedNodes.new(puppetserver) }

  before { puppetserver.estate(site) }

  # @return [Array<String>] all that is readable where secrets must not be
  def traces
    [*logs.map { |file| File.binread(file) }, *%w[alpha beta gamma].map { |name| estate.reports.all(name).to_s }]
  end

  # @return [Array<String>] the files of the server, and those of the agents except for their last catalogs
  def logs
    files = Dir[puppetserver.path('log', '*'), puppetserver.path('{var,agents}', '**', '*')]
    expect(files).to include(match(%r{/reports/gamma/}), match(/last_run_report/))
    files.select { |file| File.file?(file) && !file.include?('/client_data/catalog/') }
  end

  context 'with files' do
    let(:backend) { { 'type' => 'file', 'id' => 'agents', 'root_path' => puppetserver.path('estate') } }

    it_behaves_like 'nodes of an estate'
  end

  servers.each do |server, tags|
    context "with #{server}", **tags do
      let(:backend) do
        directory = directories.fetch(server)
        directory.options('type' => 'ldap', 'id' => 'agents', 'ldap_uri' => directory.tls_uri,
                          'tls_cacert' => directory.certificates.cacert)
      end

      it_behaves_like 'nodes of an estate'
    end
  end
end
