# frozen_string_literal: true

require_relative '../support/command'

RSpec.describe 'simpkv explain' do
  include_context 'with the command'

  let(:backends) do
    { 'default' => { 'type' => 'ldap', 'id' => 'site', 'ldap_uri' => 'ldapi://%2Freplica',
                     'write_uri' => 'ldapi://%2Fsupplier' } }
  end

  it 'names the server that takes writes' do
    facts = JSON.parse(simpkv!('explain', 'app1/token', '-o', 'json'))
    expect(facts).to include('location' => %r{at ldapi://%2Freplica$}, 'write_uri' => 'ldapi://%2Fsupplier')
  end

  it 'does not mention write_uri where there is none' do
    backends['default'].delete('write_uri')
    expect(simpkv!('explain', 'app1/token')).not_to include('write_uri')
  end
end
