# frozen_string_literal: true

require 'openssl'
require_relative '../support/ldap_store'
require_relative '../support/native_memory'

RSpec.describe 'TLS to a directory server', :once do
  include_context 'with slapd', tls: true

  # @yieldparam [Certificates] an authority that did not sign the server's certificate
  def other_certificates(**options)
    Dir.mktmpdir('simpkv-ca') { |folder| yield Certificates.new(folder, **options) }
  end

  describe 'renews its context when a file changes' do
    let(:bundle) { File.join(slapd.folder, 'bundle.pem') }

    # A store that keeps no connection for more than a millisecond.
    let(:renewing) do
      open_apart('ldap_uri' => slapd.tls_uri, 'tls_cacert' => bundle, 'idle_timeout_seconds' => 0.001)
    end

    # Each authority takes 25 KB of a context.
    def write_bundle
      pems = Array.new(8) { |i| other_certificates(name: "CA #{i}") { |other| File.read(other.cacert) } }
      File.write(bundle, [File.read(slapd.certificates.cacert), *pems].join)
    end

    def renew(times)
      times.times do
        File.utime(0, @age = @age.to_i + 1, bundle)
        sleep 0.002
        expect(renewing.kind('globals')).to eq(:folder)
      end
    end

    # Each renewal lost a context, 32 KB with one authority and 3.8 MB with Debian's bundle. libldap with GnuTLS itself
    # loses 8 KB of each.
    it 'and frees the memory of the old one' do
      write_bundle
      before = slapd.accepted
      renew(10)
      taken = NativeMemory.taken
      renew(40)
      expect((NativeMemory.taken - taken) / 40).to be < 32_768
      expect(slapd.accepted - before).to be >= 50
    end
  end

  describe 'checks the name in the certificate' do
    # libldap expects the machine's own name in the certificate of `localhost`.
    let(:own_name) do
      name, found = Open3.capture2('hostname', '-f')
      found.success? ? name.chomp : Socket.gethostname
    end

    # A store on a server whose certificate has this machine's name as its common name.
    def with_alternative_names(names, **options)
      other_certificates(**options) do |authority|
        certificate = authority.issue(subject: own_name, names: names)
        Slapd.run(tls: certificate, authority: authority) do |server|
          yield open_store('ldap_uri' => server.tls_uri.sub('127.0.0.1', 'localhost'),
                           'tls_cacert' => authority.cacert)
        end
      end
    end

    it 'in the common name if there are no alternative names' do
      with_alternative_names(nil) { |store| expect(store.kind('globals')).to eq(:folder) }
    end

    it "in the alternative names if there are any, also with keys of RSA, as those of Puppet's CA are" do
      with_alternative_names("DNS:elsewhere.example.com,DNS:#{own_name}", rsa: true) do |store|
        expect(store.kind('globals')).to eq(:folder)
      end
    end

    # The common name was enough.
    it 'and refuses a certificate if the common name matches and the alternative names do not' do
      with_alternative_names('DNS:elsewhere.example.com') do |store|
        expect { store.kind('globals') }.to raise_error(Simpkv::DeniedError, /another host name than 'localhost'/)
      end
    end
  end

  # A server that asks for a client certificate, in a thread. A real directory server does not log certificates.
  #
  # @yieldparam [String] its URI
  # @yieldparam [Queue] the subject of the certificate in each handshake; nil where there was none
  def asking_server(certificates)
    context = asking_context(*certificates.issue)
    listener = TCPServer.new('127.0.0.1', 0)
    subjects = Queue.new
    thread = Thread.new { loop { subjects << subject_of_client(listener.accept, context) } }
    yield "ldaps://127.0.0.1:#{listener.addr[1]}", subjects
  ensure
    thread&.kill&.join
    listener&.close
  end

  def asking_context(certificate, key)
    OpenSSL::SSL::SSLContext.new.tap do |context|
      context.cert = OpenSSL::X509::Certificate.new(File.read(certificate))
      context.key = OpenSSL::PKey.read(File.read(key))
      context.verify_mode = OpenSSL::SSL::VERIFY_PEER
      context.verify_callback = ->(*) { true }
    end
  end

  def subject_of_client(socket, context)
    client = OpenSSL::SSL::SSLSocket.new(socket, context)
    client.accept
    client.peer_cert&.subject&.to_s
  rescue OpenSSL::SSL::SSLError, SystemCallError
    nil
  ensure
    socket.close
  end

  # A failed handshake was repeated twice with the client certificate, to find out what is wrong, even if the server
  # had proved nothing. libldap with GnuTLS verifies the server when the first handshake is over.
  it 'sends no client certificate in the handshake that examines a failure' do
    other_certificates do |other|
      certificate, key = other.issue
      asking_server(slapd.certificates) do |uri, subjects|
        store = open_store('ldap_uri' => uri, 'tls_cacert' => other.cacert, 'tls_cert' => certificate,
                           'tls_key' => key, 'retries' => 0)
        expect { store.kind('globals') }.to raise_error(Simpkv::DeniedError, /is not signed by a CA in/)
        expect(Array.new(3) { subjects.pop }.drop(1)).to eq([nil, nil])
      end
    end
  end
end
