# frozen_string_literal: true

require_relative '../../../../spec/support/absent_options'
require 'simpkv/config/sections'

RSpec.describe Simpkv::Config::Sections do
  dns = { 'users_dn' => 'ou=u', 'roles_dn' => 'ou=r' }
  sections = described_class.all

  it 'are those of all gems' do
    expect(sections.keys).to eq(%w[access estate server])
  end

  describe 'with an option without a value' do
    { 'estate' => [%w[facts_blocklist secret_names unknown_nodes], {}],
      'access' => [%w[undeclared_members], dns], 'server' => [%w[tls_crl], {}] }.each do |name, (protecting, others)|
      include_examples 'options without a value', name, sections[name]::OPTIONS, protecting, others.keys,
                       ->(absent) { sections[name].convert(others.merge(absent)) }
    end

    include_examples 'options without a value', 'inspection_rules', sections['estate']::INSPECTION_RULES,
                     %w[built_in default_scope], [],
                     ->(absent) { sections['estate'].convert('inspection_rules' => absent) }
    include_examples 'options without a value', 'sign_in', sections['server']::SIGN_IN, [], %w[users_dn],
                     ->(absent) { sections['server'].convert('sign_in' => { 'users_dn' => 'ou=u' }.merge(absent)) }
  end
end
