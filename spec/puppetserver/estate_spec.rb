# frozen_string_literal: true

require_relative 'estate_helper'

RSpec.describe 'Agents of a puppetserver that keeps an estate', :estate do
  include_context 'with puppetserver'

  let(:site) { { 'backends' => { 'default' => backend } } }
  let(:nodes) { ServedNodes.new(puppetserver) }

  before { puppetserver.estate(site) }

  # @return [Array<String>] all that is readable where secrets must not be. An agent keeps its last catalog
  def traces(estate)
    logs = Dir[puppetserver.path('log', '*'), puppetserver.path('{var,agents}', '**', '*')]
    logs = logs.select { |file| File.file?(file) && !file.include?('/client_data/catalog/') }
    expect(logs.grep(/reports/)).not_to be_empty
    reports = %w[alpha beta gamma].map { |name| estate.reports.all(name).to_s }
    expect(reports.last).to include('gamma')
    [*logs.map { |file| File.binread(file) }, *reports]
  end

  context 'with files' do
    let(:backend) { { 'type' => 'file', 'id' => 'agents', 'root_path' => puppetserver.path('estate') } }

    it_behaves_like 'nodes of an estate'
  end

  [Slapd, Ds389].each do |server|
    context "with #{server}" do
      include_context 'with a directory', server, tls: true, limits: true

      let(:backend) do
        directory.options('type' => 'ldap', 'id' => id, 'ldap_uri' => directory.tls_uri,
                          'tls_cacert' => directory.certificates.cacert)
      end

      it_behaves_like 'nodes of an estate'
    end
  end
end
