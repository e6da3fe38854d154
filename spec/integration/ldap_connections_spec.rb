# frozen_string_literal: true

require 'json'
require_relative '../support/another_ruby'
require_relative '../support/eventually'
require_relative '../support/ldap_store'

RSpec.describe 'Connections to a directory server', :once do
  include Eventually

  include_context 'with slapd', tls: true

  let(:document) { '{"value":"é","metadata":{}}' }
  let(:tls) { { 'tls_cacert' => slapd.certificates.cacert } }

  def works(store)
    store.put('globals/a/b', document)
    expect(store.get('globals/a/b')).to eq(document)
    expect(store.list('globals/a')).to eq(keys: { 'b' => document }, folders: [], errors: {})
    expect(store.deletetree('globals/a')).to be(true)
    expect(store.kind('globals/a')).to be_nil
  end

  # @return [String] the lines that slapd logs while the block runs
  def logged
    before = slapd.log.length
    yield
    slapd.log[before..]
  end

  def other_certificates
    Dir.mktmpdir('simpkv-ca') { |folder| yield Certificates.new(folder) }
  end

  describe 'over each transport' do
    it 'ldapi, as the user of the process (SASL EXTERNAL)' do
      log = logged { works(open_store('admin_pw_file' => '')) }
      expect(log).to include('mech=EXTERNAL')
    end

    it 'ldapi, with a password' do
      log = logged { works(open_store) }
      expect(log).to include('method=128')
    end

    it 'ldap' do
      log = logged { works(open_store('ldap_uri' => slapd.tcp_uri)) }
      expect(log).not_to match(/TLS established|STARTTLS/)
    end

    it 'ldap, with StartTLS before any other request' do
      log = logged { works(open_store(tls.merge('ldap_uri' => slapd.tcp_uri, 'enable_tls' => true))) }
      expect(log).to match(/STARTTLS.*TLS established.*BIND/m)
    end

    it 'ldaps, with any value of enable_tls' do
      [{}, { 'enable_tls' => true }, { 'enable_tls' => false }].each do |more|
        works(open_store(tls.merge('ldap_uri' => slapd.tls_uri).merge(more)))
      end
    end

    it 'ldaps, with a client certificate' do
      certificate, key = slapd.certificates.issue
      works(open_store(tls.merge('ldap_uri' => slapd.tls_uri, 'tls_cert' => certificate, 'tls_key' => key)))
    end

    it 'ldapi without TLS, with enable_tls' do
      works(open_store('enable_tls' => true))
    end
  end

  it 'use the content of the password file without one final newline' do
    ["#{Slapd::PASSWORD}\n", "#{Slapd::PASSWORD}\r\n"].each_with_index do |content, index|
      file = File.join(slapd.folder, "newline-#{index}")
      File.write(file, content)
      works(open_store('admin_pw_file' => file))
    end
    file = File.join(slapd.folder, 'two-newlines')
    File.write(file, "#{Slapd::PASSWORD}\n\n")
    expect { open_store('admin_pw_file' => file).kind('globals') }.to raise_error(Simpkv::DeniedError)
  end

  # Each error names the reason and the server.
  describe 'fail before the password is sent,' do
    def refused(options, message)
      uri = options.fetch('ldap_uri', slapd.tls_uri)
      log = logged { expect_refusal(open_store(options.merge('ldap_uri' => uri)), uri, message) }
      expect(log).not_to include(' BIND ')
    end

    def expect_refusal(store, uri, message)
      expect { store.kind('globals') }.to raise_error(Simpkv::Error) { |error|
        expect(error.message).to match(message)
        expect(error.message).to include(uri)
        expect(error.message).not_to include(Slapd::PASSWORD)
        expect(error).not_to be_a(Simpkv::TimeoutError)
      }
    end

    it 'when another CA issued the certificate, over ldaps and StartTLS' do
      other_certificates do |other|
        refused({ 'tls_cacert' => other.cacert }, /certificate/i)
        refused({ 'tls_cacert' => other.cacert, 'ldap_uri' => slapd.tcp_uri, 'enable_tls' => true }, /certificate/i)
      end
    end

    it 'when the file with the CA certificates is missing' do
      refused({ 'tls_cacert' => '/no/such/file' }, %r{/no/such/file})
    end

    it 'when the key does not match the certificate' do
      certificate, = slapd.certificates.issue
      _, key = slapd.certificates.issue
      refused(tls.merge('tls_cert' => certificate, 'tls_key' => key), /tls_key|#{Regexp.escape(key)}/)
    end

    it 'when the server offers no StartTLS' do
      Slapd.run do |plain|
        log = plain.log.length
        expect do
          open_store(tls.merge('ldap_uri' => plain.tcp_uri, 'enable_tls' => true)).kind('globals')
        end.to raise_error(Simpkv::Error, /#{Regexp.escape(plain.tcp_uri)}.*StartTLS/i)
        expect(plain.log[log..]).not_to include(' BIND ')
      end
    end

    {
      'has expired' => [['127.0.0.1', { days: -1 }], /expired/i],
      'is for another host' => [['127.0.0.2', {}], /host|name/i]
    }.each do |what, ((host, validity), message)|
      it "when the certificate #{what}, over ldaps and StartTLS" do
        Dir.mktmpdir('simpkv-ca') do |folder|
          certificates = Certificates.new(folder)
          Slapd.run(tls: certificates.issue(host, **validity), authority: certificates) do |other|
            before = other.log.length
            [{ 'ldap_uri' => other.tls_uri }, { 'ldap_uri' => other.tcp_uri, 'enable_tls' => true }].each do |server|
              expect { open_store(server.merge('tls_cacert' => certificates.cacert)).kind('globals') }
                .to raise_error(Simpkv::Error, /#{Regexp.escape(server['ldap_uri'])}.*certificate.*#{message}/im)
            end
            expect(other.log[before..]).not_to include(' BIND ')
          end
        end
      end
    end
  end

  it 'use the CA certificates of their own backend if a process has two' do
    other_certificates do |other|
      good = open_store(tls.merge('ldap_uri' => slapd.tls_uri))
      bad = open_store('ldap_uri' => slapd.tls_uri, 'tls_cacert' => other.cacert)
      3.times do
        expect(good.kind('globals')).to eq(:folder)
        expect { bad.kind('globals') }.to raise_error(Simpkv::Error, /certificate/i)
      end
    end
  end

  describe 'in a process with hostile settings of libldap' do
    # Runs a command with hostile variables in its environment, and in a folder with hostile files.
    #
    # @return [String] its output
    def hostile(*command)
      Dir.mktmpdir('hostile') do |folder|
        settings = { 'TLS_REQCERT' => 'never', 'TLS_CACERT' => '/no/such/file', 'URI' => 'ldap://127.0.0.1:1',
                     'BASE' => 'dc=wrong', 'BINDDN' => 'cn=wrong', 'SIZELIMIT' => '1', 'TIMELIMIT' => '1',
                     'DEREF' => 'always', 'SASL_MECH' => 'ANONYMOUS', 'NETWORK_TIMEOUT' => '1', 'TIMEOUT' => '1' }
        text = settings.map { |name, value| "#{name} #{value}\n" }.join
        %w[ldaprc .ldaprc].each { |name| File.write(File.join(folder, name), text) }
        environment = settings.to_h { |name, value| ["LDAP#{name}", value] }.merge('HOME' => folder)
        IO.popen([environment, *command, { chdir: folder, err: %i[child out] }], &:read)
      end
    end

    # Runs a script in such a process, for each of the options, with a `store` that has them.
    #
    # @return [Array<String>] the lines of its output
    def in_hostile_process(options, script)
      code = 'require "simpkv"; require "json"; ' \
             "JSON.parse(ARGV.first).each { |options| store = Simpkv::Store.open('ldap', options); #{script} }"
      hostile(*AnotherRuby.command('-e', code, JSON.generate(options))).lines(chomp: true)
    end

    it 'fail with ldapsearch, which uses these settings' do
      expect(hostile('ldapsearch', '-x', '-H', slapd.uri, '-D', Slapd::USER_DN, '-y', slapd.password_file))
        .to match(/base <dc=wrong>.*result: 32/m)
      expect(hostile('ldapsearch', '-x', '-H', slapd.uri, '-D', Slapd::ROOT_DN, '-w', Slapd::PASSWORD, '-b', 'dc=simp'))
        .to include('result: 4 Size limit exceeded')
    end

    let(:options) { slapd.options('id' => id, 'ldap_uri' => slapd.tls_uri).merge(tls) }

    it 'ignore ldaprc, ~/.ldaprc and LDAP* variables' do
      script = '%w[a b c].each { |k| store.put("globals/f/" + k, k) }; p store.list("globals/f")[:keys].keys.sort'
      all = [options, options.merge('ldap_uri' => slapd.tcp_uri, 'enable_tls' => true),
             options.merge('ldap_uri' => slapd.uri, 'admin_pw_file' => '')]
      expect(in_hostile_process(all, script)).to eq(['["a", "b", "c"]'] * 3)
    end

    # LDAPTLS_REQCERT=never in the environment used to disable the verification.
    it 'verify certificates' do
      other_certificates do |other|
        script = 'begin; puts store.kind("globals"); rescue Simpkv::Error => e; puts e.message; end'
        strict = options.merge('tls_cacert' => other.cacert)
        all = [strict, strict.merge('ldap_uri' => slapd.tcp_uri, 'enable_tls' => true)]
        expect(in_hostile_process(all, script)).to match([/certificate/i, /certificate/i])
      end
    end
  end

  # Each catalog used to start five processes before its first operation.
  it 'are opened once a process, not once a store or catalog' do
    options = { 'admin_dn' => Slapd::USER_DN.upcase }
    log = logged do
      5.times do
        store = open_store(options)
        store.put('globals/k', document)
        store.get('globals/k')
        store.close
      end
    end
    expect(log.scan(' ACCEPT ').length).to eq(1)
  end

  describe 'to a server that restarts' do
    # The next call used to fail.
    it 'are opened again between two calls, without an error' do
      [{}, { 'ldap_uri' => slapd.tcp_uri }, tls.merge('ldap_uri' => slapd.tls_uri)].each do |options|
        other = open_store(options)
        other.put('globals/k', document)
        slapd.restart
        expect(other.get('globals/k')).to eq(document)
        slapd.kill
        slapd.launch
        other.put('globals/k', '{"value":1}')
        expect(other.get('globals/k')).to eq('{"value":1}')
      end
    end

    it 'fail with its address while it is down, and work again when it is back' do
      other = open_store('ldap_uri' => slapd.tcp_uri, 'connect_timeout_seconds' => 2)
      other.put('globals/k', document)
      slapd.stop_serving
      expect { other.get('globals/k') }.to raise_error(Simpkv::UnavailableError, /#{Regexp.escape(slapd.tcp_uri)}/)
      slapd.launch
      expect(eventually { other.get('globals/k') }).to eq(document)
    end
  end

  it 'use the next server when the first refuses connections' do
    works(open_store('ldap_uri' => ['ldap://127.0.0.1:1', slapd.tcp_uri]))
    works(open_store('ldap_uri' => "ldapi://%2Fno%2Fsuch, #{slapd.uri}"))
  end

  # Such a call used to hang for ever.
  describe 'to a server that does not respond' do
    it 'end at the deadline if it accepts and never responds, over every transport' do
      silent = TCPServer.new('127.0.0.1', 0)
      address = "127.0.0.1:#{silent.addr[1]}"
      [{ 'ldap_uri' => "ldap://#{address}" }, { 'ldap_uri' => "ldaps://#{address}" },
       { 'ldap_uri' => "ldap://#{address}", 'enable_tls' => true }].each do |options|
        other = open_store(tls.merge('operation_timeout_seconds' => 0.5).merge(options))
        took = seconds do
          expect { other.get('globals/k') }.to raise_error(Simpkv::TimeoutError, /#{Regexp.escape(address)}/)
        end
        expect(took).to be_between(0.4, 20)
      end
    ensure
      silent&.close
    end

    it 'end at the deadline if it stops responding, and no later in the calls that follow' do
      other = open_apart('ldap_uri' => slapd.tcp_uri, 'operation_timeout_seconds' => 0.7, 'retries' => 0)
      eventually { other.put('globals/k', document) }
      slapd.freeze_process do
        took = %i[get kind delete].map do |call|
          seconds { expect { other.public_send(call, 'globals/k') }.to raise_error(Simpkv::TimeoutError) }
        end
        expect(took.first).to be > 0.6
        expect(took).to all(be < 20)
      end
    end
  end

  it 'use the next server when the first stops responding, for any number of connections (each timed out)' do
    Slapd.run do |first|
      first.add("dn: ou=two,#{Slapd::BASE_DN}\nobjectClass: organizationalUnit\n")
      slapd.add("dn: ou=two,#{Slapd::BASE_DN}\nobjectClass: organizationalUnit\n")
      both = open_store('ldap_uri' => [first.tcp_uri, slapd.tcp_uri], 'base_dn' => "ou=two,#{Slapd::BASE_DN}",
                        'admin_pw_file' => first.password_file, 'operation_timeout_seconds' => 4)
      Array.new(4) { Thread.new { 50.times { both.kind('globals') } } }.each(&:join)
      first.freeze_process do
        expect(both.kind('globals')).to eq(:folder)
      end
    end
  end

  # @return [Array<Hash>] the statistics of the newest pool
  def servers
    Simpkv.stats['pools'].max_by { |pool| pool['identity'].length }['servers']
  end

  it 'leave time for the next server when the first never responds (every call timed out)' do
    Slapd.run do |first|
      first.freeze_process do
        [0.8, 1.5].each do |timeout|
          # On a slow machine, the second server may respond late, too: then the example repeats with a new pool.
          eventually(errors: Simpkv::TimeoutError) do
            both = open_apart('ldap_uri' => [first.tcp_uri, slapd.tcp_uri], 'operation_timeout_seconds' => timeout)
            expect(both.kind('globals')).to eq(:folder)
            expect(servers).to match([include('uri' => first.tcp_uri, 'connects' => 1, 'resting' => true),
                                      include('uri' => slapd.tcp_uri, 'binds' => 1, 'resting' => false)])
            10.times { expect(both.kind('globals')).to eq(:folder) }
          end
        end
      end
    end
  end

  it 'do not repeat a refused bind to a server that comes back with another password (20 gets were 20 binds)' do
    Slapd.run do |first|
      both = open_apart('ldap_uri' => [first.tcp_uri, slapd.tcp_uri])
      first.stop_serving
      both.put('globals/k', document)
      first.launch
      first.modify("dn: #{Slapd::USER_DN}\nchangetype: modify\nreplace: userPassword\nuserPassword: another\n")
      before = first.log.length
      eventually { both.get('globals/k') == document && first.log[before..].include?(' err=49') }
      20.times { expect(both.get('globals/k')).to eq(document) }
      expect(first.log[before..].scan(' err=49').length).to eq(1)
    end
  end

  it 'fail after the retries that the options allow' do
    [0, 1, 3].each do |retries|
      gone = open_store('ldap_uri' => 'ldap://127.0.0.1:1', 'retries' => retries, 'operation_timeout_seconds' => 20)
      took = seconds { expect { gone.get('globals/k') }.to raise_error(Simpkv::UnavailableError) }
      expect(took).to be < 18
    end
  end
end
