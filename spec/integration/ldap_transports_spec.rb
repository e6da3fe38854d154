# frozen_string_literal: true

require_relative '../support/ldap_store'

[Slapd, Ds389].each do |server|
  RSpec.describe "Keys in a directory, #{server}" do
    include_context 'with a directory', server, tls: true

    let(:tls) { { 'tls_cacert' => directory.certificates.cacert } }

    {
      'ldapi, as the local user (SASL EXTERNAL)' => -> { { 'admin_pw_file' => '' } },
      'ldapi, with a password' => -> { {} },
      'ldap' => -> { { 'ldap_uri' => directory.tcp_uri } },
      'ldap with StartTLS' => -> { { 'ldap_uri' => directory.tcp_uri, 'enable_tls' => true, **tls } },
      'ldaps' => -> { { 'ldap_uri' => directory.tls_uri, **tls } }
    }.each do |transport, options|
      it "are reached over #{transport}" do
        store = open_store(instance_exec(&options))
        expect(store.put('globals/a/k', '{"value":1}')).to be(true)
        expect(store.list('globals/a')).to eq(keys: { 'k' => '{"value":1}' }, folders: [], errors: {})
        expect(store.deletetree('globals/a')).to be(true)
        expect(store.kind('globals/a')).to be_nil
      end
    end
  end
end
