# frozen_string_literal: true

require_relative '../support/certificates'
require_relative '../support/scripted_server'

# libldap aborts the process, a JVM as well, when it reads these bytes. Nobody has verified the server by then.
RSpec.describe 'A store whose server sends bytes that libldap aborts at' do
  # An unsolicited response with an empty name; an intermediate response to the fourth message, with one.
  unsolicited = ['300e02010078090a0134040004008a00'].pack('H*')
  intermediate = ['300702010479028000'].pack('H*')

  # JRuby 9.3 makes no keys on elliptic curves.
  before(:context) do
    authority = Certificates.new(@folder = Dir.mktmpdir('simpkv-hostile'), rsa: RUBY_ENGINE == 'jruby')
    @certificate = authority.issue
    @login = { 'admin_dn' => 'cn=x', 'admin_pw_file' => File.join(@folder, 'password'),
               'tls_cacert' => authority.cacert }
    File.write(@login['admin_pw_file'], 'x', perm: 0o600)
  end

  after(:context) { FileUtils.rm_rf(@folder) }

  # Yields a store of such a server, and a pattern of its address.
  def with_server(scheme, answers, more = {})
    server = ScriptedServer.new(scheme, answers, certificate: @certificate)
    options = @login.merge({ 'ldap_uri' => server.uri, 'id' => 'x', 'retries' => 0 }, more)
    store = Simpkv::Store.open('ldap', options)
    yield store, Regexp.escape(server.uri)
  ensure
    store&.close
    server&.stop
  end

  # @return [Array<String>] the responses to the bind and to two reads, of a server that lets clients watch
  def responses_before_the_search
    root_dse = ScriptedServer.entry(2, '', 'supportedControl', '1.3.6.1.4.1.4203.1.9.1.1')
    folder = ScriptedServer.entry(3, 'ou=w,ou=globals,ou=x,ou=instances,ou=simpkv,o=puppet,dc=simp')
    [ScriptedServer.result(1, 0x61), root_dse + ScriptedServer.result(2, 0x65), folder + ScriptedServer.result(3, 0x65)]
  end

  { 'a socket file' => ['ldapi', [unsolicited], {}, 'binding'],
    'a port' => ['ldap', [unsolicited], {}, 'binding'],
    'TLS' => ['ldaps', [unsolicited], {}, 'binding'],
    'StartTLS, in place of its response' => ['ldap', [unsolicited], { 'enable_tls' => true }, 'asking for StartTLS'],
    'StartTLS, after its handshake' => ['ldap', [ScriptedServer::STARTTLS, unsolicited], { 'enable_tls' => true },
                                        'binding'] }
    .each do |name, (scheme, answers, options, doing)|
    it "reports malformed LDAP, over #{name}" do
      with_server(scheme, answers, options) do |store, uri|
        expect { store.get('globals/k') }
          .to raise_error(Simpkv::UnavailableError, /#{uri}: the server sent malformed LDAP while #{doing}: check that/)
      end
    end
  end

  # A response to no request of ours, and an entry in answer to the bind. Without an end, they filled the memory, and no
  # deadline ended the call.
  { 'responses to no request' => ScriptedServer.entry(99, 'o=x'), 'entries' => ScriptedServer.entry(1, 'o=x') }
    .each do |name, bytes|
    it "ends a connection whose server answers the bind with #{name} without an end" do
      with_server('ldapi', [ScriptedServer::Endless.new(bytes)], 'operation_timeout_seconds' => 600) do |store, uri|
        expect { store.get('globals/k') }
          .to raise_error(Simpkv::UnavailableError, /#{uri}: the server sent malformed LDAP while binding/)
      end
    end
  end

  it 'ends a call in time whose server sends responses to no request without an end' do
    answers = [*responses_before_the_search.first(2), ScriptedServer::Endless.new(ScriptedServer.entry(99, 'o=x'))]
    with_server('ldapi', answers, 'operation_timeout_seconds' => 1) do |store, uri|
      expect { store.get('globals/k') }.to raise_error(Simpkv::TimeoutError, /no answer in time.*#{uri}/)
    end
  end

  { 'an unsolicited response' => unsolicited, 'an intermediate response' => intermediate }.each do |name, bytes|
    it "ends a watch with an error, at #{name}" do
      answers = [*responses_before_the_search, bytes]
      with_server('ldapi', answers) do |store, uri|
        expect { store.watch('globals/w') { nil } }
          .to raise_error(Simpkv::UnavailableError, /the server sent malformed LDAP \(#{uri}\)/)
      end
    end
  end
end
