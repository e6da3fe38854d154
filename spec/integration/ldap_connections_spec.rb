# frozen_string_literal: true

require 'json'
require_relative '../support/another_ruby'
require_relative '../support/ldap_store'

RSpec.describe 'Connections to a directory server' do
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

  # What the log says of the connections that were made meanwhile.
  def logged
    before = slapd.log.length
    yield
    slapd.log[before..]
  end

  def other_certificates
    Dir.mktmpdir('simpkv-ca') { |folder| yield Certificates.new(folder) }
  end

  describe 'over each transport' do
    it 'ldapi, as the user whom the server sees (SASL EXTERNAL)' do
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

    it 'ldap, with StartTLS before anything else' do
      log = logged { works(open_store(tls.merge('ldap_uri' => slapd.tcp_uri, 'enable_tls' => true))) }
      expect(log).to match(/STARTTLS.*TLS established.*BIND/m)
    end

    it 'ldaps, whatever enable_tls says' do
      [{}, { 'enable_tls' => true }, { 'enable_tls' => false }].each do |more|
        works(open_store(tls.merge('ldap_uri' => slapd.tls_uri).merge(more)))
      end
    end

    it 'ldaps, with a certificate of our own' do
      certificate, key = slapd.certificates.issue
      works(open_store(tls.merge('ldap_uri' => slapd.tls_uri, 'tls_cert' => certificate, 'tls_key' => key)))
    end

    it 'ldapi, where TLS is of no use, whatever enable_tls says' do
      works(open_store('enable_tls' => true))
    end
  end

  it 'take the content of the password file for the password, less one newline at its end' do
    ["#{Slapd::PASSWORD}\n", "#{Slapd::PASSWORD}\r\n"].each_with_index do |content, index|
      file = File.join(slapd.folder, "newline-#{index}")
      File.write(file, content)
      works(open_store('admin_pw_file' => file))
    end
    file = File.join(slapd.folder, 'two-newlines')
    File.write(file, "#{Slapd::PASSWORD}\n\n")
    expect { open_store('admin_pw_file' => file).kind('globals') }.to raise_error(Simpkv::DeniedError)
  end

  # Each refusal says what is wrong with which server, and the password was not sent.
  describe 'are refused, and nothing is sent,' do
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

    it 'when the certificate comes from another authority, over ldaps and StartTLS' do
      other_certificates do |other|
        refused({ 'tls_cacert' => other.cacert }, /certificate/i)
        refused({ 'tls_cacert' => other.cacert, 'ldap_uri' => slapd.tcp_uri, 'enable_tls' => true }, /certificate/i)
      end
    end

    it 'when there is no such file of authorities' do
      refused({ 'tls_cacert' => '/no/such/file' }, %r{/no/such/file})
    end

    it 'when the key is not that of the certificate' do
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

  it 'differ by their authorities: two backends at once' do
    other_certificates do |other|
      good = open_store(tls.merge('ldap_uri' => slapd.tls_uri))
      bad = open_store('ldap_uri' => slapd.tls_uri, 'tls_cacert' => other.cacert)
      3.times do
        expect(good.kind('globals')).to eq(:folder)
        expect { bad.kind('globals') }.to raise_error(Simpkv::Error, /certificate/i)
      end
    end
  end

  describe 'in a process that means ill' do
    # Runs a command in an environment and a folder that mean ill; answers what it prints.
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

    # What the script prints in a process of its own, with a `store` of each options.
    def in_hostile_process(options, script)
      code = 'require "simpkv"; require "json"; ' \
             "JSON.parse(ARGV.first).each { |options| store = Simpkv::Store.open('ldap', options); #{script} }"
      hostile(*AnotherRuby.command('-e', code, JSON.generate(options))).lines(chomp: true)
    end

    it 'are led astray when they are not ours: ldapsearch heeds all that' do
      expect(hostile('ldapsearch', '-x', '-H', slapd.uri, '-D', Slapd::USER_DN, '-y', slapd.password_file))
        .to match(/base <dc=wrong>.*result: 32/m)
      expect(hostile('ldapsearch', '-x', '-H', slapd.uri, '-D', Slapd::ROOT_DN, '-w', Slapd::PASSWORD, '-b', 'dc=simp'))
        .to include('result: 4 Size limit exceeded')
    end

    let(:options) { slapd.options('id' => id, 'ldap_uri' => slapd.tls_uri).merge(tls) }

    it 'work as ever: ldaprc, ~/.ldaprc and LDAP* variables count for nothing' do
      script = '%w[a b c].each { |k| store.put("globals/f/" + k, k) }; p store.list("globals/f")[:keys].keys.sort'
      all = [options, options.merge('ldap_uri' => slapd.tcp_uri, 'enable_tls' => true),
             options.merge('ldap_uri' => slapd.uri, 'admin_pw_file' => '')]
      expect(in_hostile_process(all, script)).to eq(['["a", "b", "c"]'] * 3)
    end

    # LDAPTLS_REQCERT=never in the environment turned the check off.
    it 'check certificates as ever' do
      other_certificates do |other|
        script = 'begin; puts store.kind("globals"); rescue Simpkv::Error => e; puts e.message; end'
        strict = options.merge('tls_cacert' => other.cacert)
        all = [strict, strict.merge('ldap_uri' => slapd.tcp_uri, 'enable_tls' => true)]
        expect(in_hostile_process(all, script)).to match([/certificate/i, /certificate/i])
      end
    end
  end

  # DEFECTS 27: five processes were started in each catalog, before its first operation.
  it 'are made once a process, not once a store or catalog' do
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
    # DEFECTS 28: the next call failed.
    it 'are made anew, unnoticed, between two calls' do
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

    it 'fail with its address while it is away, and work again when it is back' do
      other = open_store('ldap_uri' => slapd.tcp_uri, 'connect_timeout_seconds' => 2)
      other.put('globals/k', document)
      slapd.stop_serving
      expect { other.get('globals/k') }.to raise_error(Simpkv::UnavailableError, /#{Regexp.escape(slapd.tcp_uri)}/)
      slapd.launch
      deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 30
      begin
        found = other.get('globals/k')
      rescue Simpkv::UnavailableError
        raise if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline

        sleep 0.1
        retry
      end
      expect(found).to eq(document)
    end
  end

  it 'go to the next server when the first is not there' do
    works(open_store('ldap_uri' => ['ldap://127.0.0.1:1', slapd.tcp_uri]))
    works(open_store('ldap_uri' => "ldapi://%2Fno%2Fsuch, #{slapd.uri}"))
  end

  # DEFECTS 24: such a call hung for ever.
  describe 'to a server that does not answer' do
    it 'end at the deadline when it accepts and stays silent, over every transport' do
      silent = TCPServer.new('127.0.0.1', 0)
      address = "127.0.0.1:#{silent.addr[1]}"
      [{ 'ldap_uri' => "ldap://#{address}" }, { 'ldap_uri' => "ldaps://#{address}" },
       { 'ldap_uri' => "ldap://#{address}", 'enable_tls' => true }].each do |options|
        other = open_store(tls.merge('operation_timeout_seconds' => 1).merge(options))
        took = seconds do
          expect { other.get('globals/k') }.to raise_error(Simpkv::TimeoutError, /#{Regexp.escape(address)}/)
        end
        expect(took).to be_between(0.9, 10)
      end
    ensure
      silent&.close
    end

    # Spelled so that no other example has to do with what the pool remembers of this server.
    it 'end at the deadline when it falls silent in between, and sooner once it is known to be silent' do
      other = open_store('ldap_uri' => slapd.tcp_uri, 'operation_timeout_seconds' => 1, 'retries' => 0,
                         'admin_dn' => Slapd::USER_DN.sub('cn', 'Cn'))
      other.put('globals/k', document)
      slapd.freeze_process do
        took = %i[get kind delete].map do |call|
          seconds { expect { other.public_send(call, 'globals/k') }.to raise_error(Simpkv::TimeoutError) }
        end
        expect(took.first).to be > 0.9
        expect(took).to all(be < 10)
      end
    end
  end

  # DEFECTS 23: '3' crashed, and -1 was an endless loop.
  it 'go to the next server when the first falls silent, for all their number (each ran into its deadline)' do
    Slapd.run do |first|
      first.add("dn: ou=two,#{Slapd::BASE_DN}\nobjectClass: organizationalUnit\n")
      slapd.add("dn: ou=two,#{Slapd::BASE_DN}\nobjectClass: organizationalUnit\n")
      both = open_store('ldap_uri' => [first.tcp_uri, slapd.tcp_uri], 'base_dn' => "ou=two,#{Slapd::BASE_DN}",
                        'admin_pw_file' => first.password_file, 'operation_timeout_seconds' => 2)
      Array.new(4) { Thread.new { 50.times { both.kind('globals') } } }.each(&:join)
      first.freeze_process do
        expect { both.kind('globals') }.to raise_error(Simpkv::TimeoutError)
        expect(both.kind('globals')).to eq(:folder)
      end
    end
  end

  # @return [Array<Hash>] what the process's statistics say of these servers, as one pool has them
  def servers(*uris)
    pool = Simpkv.stats['pools'].find { |each| each['servers'].map { |server| server['uri'] } == uris }
    pool['servers']
  end

  it 'leave time for the next server when the first is silent from the start (each call timed out, for ever)' do
    Slapd.run do |first|
      first.freeze_process do
        [0.8, 1.5].each do |timeout|
          both = open_apart('ldap_uri' => [first.tcp_uri, slapd.tcp_uri], 'operation_timeout_seconds' => timeout)
          expect(both.kind('globals')).to eq(:folder)
          expect(servers(first.tcp_uri, slapd.tcp_uri)).to match([include('connects' => 1, 'resting' => true),
                                                                  include('binds' => 1, 'resting' => false)])
          10.times { expect(both.kind('globals')).to eq(:folder) }
        end
      end
    end
  end

  # The first server was down, and another password was set there before it came back.
  it 'do not repeat a refused bind to a server that comes back with another password (20 gets were 20 binds)' do
    Slapd.run do |first|
      both = open_apart('ldap_uri' => [first.tcp_uri, slapd.tcp_uri])
      first.stop_serving
      both.put('globals/k', document)
      first.launch
      first.modify("dn: #{Slapd::USER_DN}\nchangetype: modify\nreplace: userPassword\nuserPassword: another\n")
      before = first.log.length
      deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 30
      until first.log[before..].include?(' err=49')
        raise 'the first server is not tried again' if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline

        expect(both.get('globals/k')).to eq(document)
      end
      20.times { expect(both.get('globals/k')).to eq(document) }
      expect(first.log[before..].scan(' err=49').length).to eq(1)
    end
  end

  it 'are given up after as many retries as there may be' do
    [0, 1, 3].each do |retries|
      gone = open_store('ldap_uri' => 'ldap://127.0.0.1:1', 'retries' => retries, 'operation_timeout_seconds' => 20)
      took = seconds { expect { gone.get('globals/k') }.to raise_error(Simpkv::UnavailableError) }
      expect(took).to be < 10
    end
  end
end
