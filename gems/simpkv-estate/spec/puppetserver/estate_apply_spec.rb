# frozen_string_literal: true

require_relative 'estate_helper'

RSpec.describe 'Nodes that compile their own catalogs with puppet apply' do
  include_context 'with the store of an estate'

  let(:site) { { 'backends' => { 'default' => backend } } }
  let(:nodes) { ApplyingNodes.new(site) }

  # @return [Array<String>] the reports
  def traces
    reports = estate.reports.all('gamma').map(&:to_s)
    expect(reports).not_to be_empty
    reports
  end

  context 'with files' do
    let(:folder) { Scratch.make('estate') }
    let(:backend) { { 'type' => 'file', 'id' => 'apply', 'root_path' => folder } }

    after { FileUtils.rm_rf(folder) }

    it_behaves_like 'nodes of an estate'
  end

  # estate_spec.rb has nodes with Ds389, and the stage estate has exports in both.
  [Slapd, Ds389].each do |server|
    context "with #{server}", :long do
      include_context 'with a directory', server, limits: true

      let(:backend) { directory.options('type' => 'ldap', 'id' => id) }

      it_behaves_like 'nodes of an estate'
    end
  end
end
