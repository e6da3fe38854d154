# frozen_string_literal: true

require_relative 'types_helper'
require_relative '../support/audit_file'

RSpec.describe 'Keys as resources in an audited backend' do
  include_context 'with keys as resources'
  include AuditFile

  let(:backend) { { 'type' => 'file', 'id' => 'types', 'root_path' => root, 'audit' => audit } }
  let(:manifest) do
    <<~PUPPET
      simpkv_folder { 'k': ensure => present, purge => true }
      simpkv_key { 'k/a': value => Sensitive('pl4nted') }
    PUPPET
  end

  it 'have lines with the certname, and none for a run that changes nothing' do
    apply!(manifest)
    expect(operations).to contain_exactly('create_folder production:k written', 'put production:k/a written')
    expect(lines.map { |line| line['node'] }.uniq).to eq([Puppet[:certname]])
    before = lines.length
    apply!(manifest)
    expect(lines.length).to eq(before)
    fill({ 'k/stray' => '{"value":1}' })
    apply!(manifest)
    expect(lines.drop(before).map { |line| line.values_at('key', 'outcome') }).to eq([%w[k/stray deleted]])
    expect(File.read(audit_file)).not_to include('pl4nted')
  end
end
