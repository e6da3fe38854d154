# frozen_string_literal: true

require_relative 'types_helper'
require_relative '../support/rspec_puppet'

# As the specs of a site test its catalogs, with rspec-puppet.
RSpec.describe 'A catalog with keys as resources', type: :host do
  let(:node) { 'web1.example.org' }
  let(:pre_condition) { manifest }

  context 'with all parameters' do
    let(:manifest) { <<~PUPPET }
      simpkv_folder { 'app1':
        ensure       => present,
        purge        => true,
        recurse      => true,
        purge_unless => ['keep/*', /^app1\\/x/],
        purge_limit  => 10,
        global       => true,
      }
      simpkv_key { 'the url':
        ensure   => present,
        key      => 'app1/url',
        value    => { 'host' => 'db1', 'ports' => [5432] },
        metadata => { 'owner' => 'ops' },
        backend  => { 'type' => 'file', 'id' => 'x', 'root_path' => '/srv/x' },
        global   => true,
      }
      simpkv_key { 'app1/password': value => Sensitive('secret') }
      simpkv_key { 'app1/old': ensure => absent }
    PUPPET

    it { is_expected.to compile.with_all_deps }
    it { is_expected.to contain_simpkv_folder('app1').with(purge: true, recurse: true, purge_limit: 10) }
    it {
      is_expected.to contain_simpkv_key('the url').with(key: 'app1/url', metadata: { 'owner' => 'ops' }, global: true)
    }
    it { is_expected.to contain_simpkv_key('app1/old').with_ensure('absent') }
    it { is_expected.to have_simpkv_key_resource_count(3) }
  end

  { 'an unknown parameter' => ["simpkv_key { 'a': valeu => 1 }", /valeu/],
    'an unknown ensure' => ["simpkv_key { 'a': ensure => latest }", /ensure|latest/],
    'an unknown ensure of a folder' => ["simpkv_folder { 'a': ensure => file }", /ensure|file/],
    'a purge that is no Boolean' => ["simpkv_folder { 'a': purge => 'maybe' }", /purge|maybe/],
    'a recurse that is no Boolean' => ["simpkv_folder { 'a': recurse => 3 }", /recurse|3/],
    'a limit that is no number' => ["simpkv_folder { 'a': purge_limit => 'many' }", /purge_limit|many/],
    'a backend of a key that is none' => ["simpkv_key { 'a': backend => 5 }", /the backend must be a name, or a Hash/],
    'a backend of a folder that is none' => ["simpkv_folder { 'a': backend => '' }", /the backend must be a name/],
    'a pattern that is none' => ["simpkv_folder { 'a': purge_unless => 5 }",
                                 /purge_unless/] }.each do |what, (manifest, why)|
    context "with #{what}" do
      let(:manifest) { manifest }

      it { is_expected.to compile.and_raise_error(why) }
    end
  end
end
