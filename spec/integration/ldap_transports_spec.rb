# frozen_string_literal: true

require_relative '../support/ldap_store'

Directories.each_server do |server, tags|
  RSpec.describe "Keys in a directory, #{server}", once: server == Ds389, **tags do
    include_context 'with a directory', server, tls: true

    let(:tls) { { 'tls_cacert' => directory.certificates.cacert } }

    {
      'ldapi, as the local user (SASL EXTERNAL)' => -> { { 'admin_pw_file' => '' } },
      'ldapi, with a password' => -> { {} },
      'ldap' => -> { { 'ldap_uri' => directory.tcp_uri } },
      'ldap with StartTLS' => -> { tls.merge('ldap_uri' => directory.tcp_uri, 'enable_tls' => true) },
      'ldaps' => -> { tls.merge('ldap_uri' => directory.tls_uri) }
    }.each do |transport, options|
      it "are reached over #{transport}" do
        store = open_store(instance_exec(&options))
        expect(store.put('globals/a/k', '{"value":1}')).to be(true)
        expect(store.list('globals/a')).to eq(keys: { 'k' => '{"value":1}' }, folders: [], errors: {})
        expect(store.deletetree('globals/a')).to be(true)
        expect(store.kind('globals/a')).to be_nil
      end
    end

    it 'have the vendor of the server, and the TLS of the newest connection, in the statistics' do
      options = { 'ldap_uri' => directory.tls_uri, 'admin_dn' => Slapd::USER_DN.sub(',', ',   ') }
      open_store(tls.merge(options)).kind('globals')
      found = Simpkv.stats['pools'].flat_map { |pool| pool['servers'] }.find { |each| each['uri'] == directory.tls_uri }
      expect(found['vendor']).to match(server == Slapd ? /\AOpenLDAP\z/ : %r{\A389-Directory/\d})
      certificate = OpenSSL::X509::Certificate.new(File.read(directory.certificate))
      expect(found['tls']).to match('protocol' => /\ATLSv?1\.[23]\z/, 'cipher' => /AES|CHACHA/,
                                    'certificate_ends' => certificate.not_after.to_i)
    end

    it 'are reached over StartTLS with enable_tls, and only then' do
      start_tls = '1.3.6.1.4.1.1466.20037'
      options = { 'ldap_uri' => directory.tcp_uri, 'admin_dn' => Slapd::USER_DN.sub(',', ', ') }
      before = directory.log.scan(start_tls).length
      open_store(options).kind('globals')
      expect(directory.log.scan(start_tls).length).to eq(before)
      open_store(options.merge(tls).merge('enable_tls' => true)).kind('globals')
      expect(directory.log.scan(start_tls).length).to be > before
    end
  end
end
