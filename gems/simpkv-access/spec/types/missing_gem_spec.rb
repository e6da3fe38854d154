# frozen_string_literal: true

require_relative '../../../../spec/types/puppet_process'
require_relative '../../../../spec/types/types_helper'

RSpec.describe 'The types of users and roles' do
  include_context 'with keys as resources'
  include PuppetProcess

  def lib(folder)
    File.join(PuppetProcess::PROJECT, folder, 'lib')
  end

  # Puppet has looked for the gems by then, when it made the catalog.
  it 'find the gems that the same run installs' do
    system(installing('simpkv', lib('.')), exception: true)
    commands = %w[simpkv-estate simpkv-access].map { |name| installing(name, lib("gems/#{name}")) }
    manifest = <<~PUPPET
      exec { 'install the gems':
        provider => shell,
        command  => '#{commands.join(' && ')}',
        before   => Simpkv_user['one'],
      }
      simpkv_user { 'one': password => 'file:/etc/simpkv/one.pw' }
    PUPPET
    output, code = puppet('apply', '--detailed-exitcodes', '-e', manifest, gem: false, modules: installed_module)
    expect([code, output]).to match([6, /^Error: .*Simpkv_user\[one\]: .* there is no 'access': set its options/])
  end
end
