# frozen_string_literal: true

require 'json'
require 'open3'
require 'tmpdir'
require_relative '../support/ports'
require_relative '../support/sshd'

# ext/core/test/secret has what is in keys and certificates; this is what programs do with them.
RSpec.describe 'A key or a certificate', :heavy, once: true do
  around { |example| Dir.mktmpdir { |folder| Dir.chdir(folder, &example) } }

  # @return [Hash] `value`, and `parts`
  def make(kind, **options)
    JSON.parse(Simpkv::Native.secret_make(JSON.generate({ kind: kind }.merge(options))))
  end

  # Makes one, and writes the secret to the file NAME and its parts to files NAME.PART.
  def make_files(name, kind, **options)
    made = make(kind, **options)
    File.write(name, made.fetch('value'), perm: 0o600)
    made.fetch('parts').each { |part, text| File.write("#{name}.#{part}", text) }
    made
  end

  # @return [String] what the program prints
  def run(*command, input: '')
    output, status = Open3.capture2e(*command, stdin_data: input)
    raise "#{command.first(3).join(' ')}: #{output}" unless status.success?

    output
  end

  # Runs openssl verify on the certificate for localhost.
  def verify(*options)
    Open3.capture2e('openssl', 'verify', '-x509_strict', '-CAfile', 'root.certificate', '-untrusted', 'www.chain',
                    *options, 'www.certificate').first
  end

  # @return [Hash] the option of a certificate that a CA signs, whose files have that name
  def issuer(name)
    files = ["#{name}.certificate", "#{name}.chain"].select { |file| File.exist?(file) }
    { certificate: files.map { |file| File.read(file) }.join, private: File.read(name) }
  end

  # Makes the files of a root, of a CA below it, and of a certificate for localhost.
  def make_chain
    make_files('root', 'x509', subject: { CN: 'Root', O: 'Exämple' }, ca: true, key_type: 'rsa', bits: 2048)
    make_files('ca', 'x509', subject: { CN: 'CA' }, ca: true, days: 1000, issuer: issuer('root'))
    make_files('www', 'x509', subject: { CN: 'localhost' }, names: %w[127.0.0.1], issuer: issuer('ca'))
  end

  # @return [Array<String>] options of s_server and s_client
  def tls(name)
    ['-cert', "#{name}.certificate", '-key', name, '-cert_chain', "#{name}.chain", '-CAfile', 'root.certificate',
     '-verify_return_error']
  end

  [['ssh-ed25519', {}, 256], ['ssh-rsa', {}, 3072], ['ssh-rsa', { bits: 2048 }, 2048], ['ssh-ecdsa', {}, 256],
   ['ssh-ecdsa', { curve: 'nistp384' }, 384], ['ssh-ecdsa', { curve: 'nistp521' }, 521]].each do |kind, options, bits|
    it "of kind #{kind} with #{bits} bits is one that ssh-keygen reads" do
      parts = make_files('key', kind, comment: 'root@www, the ünit', **options).fetch('parts')
      expect(run('ssh-keygen', '-y', '-P', '', '-f', 'key')).to eq("#{parts['public']}\n")
      line = "#{bits} #{parts['fingerprint']} root@www, the ünit (#{kind.delete_prefix('ssh-').upcase})\n"
      expect(run('ssh-keygen', '-l', '-f', 'key')).to eq(line)
      expect(run('ssh-keygen', '-l', '-f', '-', input: parts['public'])).to eq(line)
      # It reads each number, and writes the file anew.
      run('ssh-keygen', '-p', '-P', '', '-N', 'another', '-f', 'key')
      expect(run('ssh-keygen', '-y', '-P', 'another', '-f', 'key')).to eq("#{parts['public']}\n")
    end
  end

  { 'ssh-ed25519' => {}, 'ssh-rsa' => { bits: 2048 }, 'ssh-ecdsa' => {} }.each do |kind, options|
    it "of kind #{kind} is a host's, and a user's who logs in" do
      host = make(kind, **options)
      user = make_files('user', kind, **options)
      stranger = make_files('stranger', kind, **options)
      Sshd.run(host_key: [host.fetch('value'), host.dig('parts', 'public')]) do |server|
        File.write(server.authorized_keys, "#{user.dig('parts', 'public')}\n")
        expect(server.login('user')).to eq("logged in\n")
        expect(server.login('stranger')).to be_nil
        expect(stranger).not_to eq(user)
      end
    end
  end

  it 'of WireGuard is one whose public key wg computes' do
    20.times do
      made = make('wireguard')
      expect(run('wg', 'pubkey', input: made.fetch('value'))).to eq("#{made.dig('parts', 'public')}\n")
    end
  end

  it 'of a CA below a root is one that openssl verifies' do
    parts = make_chain.fetch('parts')
    expect(verify('-purpose', 'sslserver', '-verify_hostname', 'localhost', '-verify_ip', '127.0.0.1'))
      .to eq("www.certificate: OK\n")
    facts = run('openssl', 'x509', '-in', 'www.certificate', '-noout', '-fingerprint', '-sha256', '-serial')
    expect(facts).to eq("sha256 Fingerprint=#{parts['fingerprint']}\nserial=#{parts['serial']}\n")
    expect(run('openssl', 'x509', '-in', 'www.certificate', '-noout', '-pubkey'))
      .to eq(run('openssl', 'pkey', '-in', 'www', '-pubout'))
    %w[root ca www].each { |name| run('openssl', 'pkey', '-in', name, '-check', '-noout') }
  end

  it 'that signs itself is one that openssl verifies' do
    make_files('www', 'x509', subject: { CN: 'www.example.com' }, key_type: 'rsa', bits: 2048)
    run('openssl', 'verify', '-x509_strict', '-verify_hostname', 'www.example.com', '-CAfile', 'www.certificate',
        'www.certificate')
  end

  it 'is valid until a revocation list has it' do
    serial = make_chain.fetch('parts').fetch('serial')
    verdicts = [%w[01], ['01', serial]].map.with_index(1) do |serials, number|
      revoked = serials.map { |each| { serial: each, at: Time.now.utc.strftime('%FT%TZ') } }
      list = Simpkv::Native.secret_crl(JSON.generate(issuer: issuer('ca'), number: number, revoked: revoked))
      File.write('list', list)
      verify('-crl_check', '-CRLfile', 'list')
    end
    expect(verdicts).to match(["www.certificate: OK\n", /certificate revoked/])
    expect(run('openssl', 'crl', '-in', 'list', '-noout', '-crlnumber')).to eq("crlNumber=0x02\n")
  end

  it 'serves TLS, to a client that has one, too' do
    make_chain
    make_files('client', 'x509', subject: { CN: 'Jo Doe' }, key_type: 'rsa', bits: 2048, issuer: issuer('ca'))
    port, = Ports.free(1)
    # It stops at the end of its standard input.
    server = IO.popen(['openssl', 's_server', '-accept', "127.0.0.1:#{port}", '-naccept', '1', *tls('www'), '-Verify',
                       '3', { err: %i[child out] }], 'r+')
    server.each_line.find { |line| line.start_with?('ACCEPT') } || raise('s_server has ended')
    talk = run('openssl', 's_client', '-connect', "127.0.0.1:#{port}", '-verify_hostname', 'localhost', *tls('client'),
               input: "Q\n")
    expect(talk).to include('Verify return code: 0 (ok)')
    expect(server.read).to include('subject=CN = Jo Doe')
  ensure
    server&.close
  end
end
