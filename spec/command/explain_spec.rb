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

  # A password that a new environment makes anew is another one.
  it 'says whether the key belongs to one environment or to all, and why' do
    owner = ->(*options) { simpkv!('explain', 'app1/token', *options)[/^belongs_to: +(.*)/, 1] }
    expect([owner[], owner['-e', 'dev'], owner['-g'], owner['-e', '']])
      .to eq(["the environment 'production', by default: functions use that of the catalog",
              "the environment 'dev', by --environment", 'all environments, by --global',
              "the environment that the path begins with, by --environment ''"])
    File.write(config, { 'global' => true, 'backends' => backends }.to_yaml)
    expect([owner[], owner['-g'], owner['-e', 'dev']])
      .to eq(["all environments, by 'global' in #{config}", 'all environments, by --global',
              "the environment 'dev', by --environment, but functions use that of all environments, by 'global' in " \
              "#{config}"])
  end

  it 'does not mention write_uri where there is none' do
    backends['default'].delete('write_uri')
    expect(simpkv!('explain', 'app1/token')).not_to include('write_uri')
  end
end
