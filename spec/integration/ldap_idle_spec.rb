# frozen_string_literal: true

require_relative '../support/ldap_store'
require_relative '../support/eventually'

RSpec.describe 'Connections that are idle', :once do
  include Eventually

  # A pool of their own.
  let(:options) { { 'admin_dn' => Slapd::USER_DN.sub(',', ",#{' ' * LdapIds.next}") } }
  let(:document) { '{"value":1}' }

  describe 'for longer than the server allows' do
    include_context 'with slapd', tls: true, idle: 1

    # Over TLS, an idle connection may be readable for other reasons than its end.
    {
      'ldapi' => ->(slapd) { { 'ldap_uri' => slapd.uri } },
      'ldap' => ->(slapd) { { 'ldap_uri' => slapd.tcp_uri } },
      'ldaps' => ->(slapd) { { 'ldap_uri' => slapd.tls_uri, 'tls_cacert' => slapd.certificates.cacert } },
      'StartTLS' => lambda do |slapd|
        { 'ldap_uri' => slapd.tcp_uri, 'enable_tls' => true, 'tls_cacert' => slapd.certificates.cacert }
      end
    }.each do |transport, server|
      it "are replaced at the next call, without a retry, over #{transport}", heavy: transport != 'ldaps' do
        other = open_store(options.merge('retries' => 0).merge(server.call(slapd)))
        %i[put get].each do |call|
          before = slapd.log.length
          other.kind('globals')
          eventually { slapd.log[before..].include?('closed (idletimeout)') }
          other.public_send(call, 'globals/k', *(document if call == :put))
        end
      end
    end
  end

  describe 'for longer than idle_timeout_seconds' do
    include_context 'with slapd'

    # On a busy machine, a new connection may exceed the limit before its first request. The pool then opens another.
    it 'are closed with an unbind at the next call, which uses a new one' do
      other = open_store(options.merge('idle_timeout_seconds' => 0.3))
      other.put('globals/k', document)
      idle = slapd.log.scan(/conn=(\d+) op=\d+ RESULT/).flatten.last
      before = slapd.log.length
      sleep 0.5
      expect(other.get('globals/k')).to eq(document)
      expect(eventually { slapd.log[before..].match(/conn=#{idle} op=\d+ UNBIND/) }).to be_truthy
      expect(eventually { slapd.log[before..].scan(/conn=(\d+) op=\d+ SRCH/).flatten.uniq }).not_to include(idle)
    end
  end
end
