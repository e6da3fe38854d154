# frozen_string_literal: true

require_relative '../../../../spec/support/command'
require_relative '../../../../spec/support/ds389'
require_relative '../../../../spec/support/slapd'

RSpec.describe 'simpkv init' do
  include_context 'with the command'

  [Slapd, Ds389].each do |type|
    it "makes the estate, on #{type.name}" do
      type.run do |server|
        backends['default'] = { 'type' => 'ldap' }.merge(server.options)
        folders = Simpkv::Estate::MARKED + Simpkv::Estate::MARKED_LATER
        expect(JSON.parse(simpkv!('init', '-o', 'json'))['estate']).to eq("was made: #{folders.sort.join(', ')}")
        expect(JSON.parse(simpkv!('init', '-o', 'json')).values).to eq(['already exists'] * 3)
      end
    end
  end
end
