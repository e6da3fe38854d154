# frozen_string_literal: true

require_relative 'command_helper'

RSpec.describe 'simpkv ping' do
  include_context 'with keys in a directory', Slapd, 'plain'

  def change_password(password)
    directory.modify("dn: #{Slapd::USER_DN}\nchangetype: modify\nreplace: userPassword\nuserPassword: #{password}\n")
  end

  # After a refused bind, a process did not use the password for minutes, unless the file was replaced.
  it 'lets other processes try a password again that the server now accepts' do
    other = open_apart
    mtime = File.mtime(directory.password_file)
    change_password('another')
    expect { other.kind('globals') }.to raise_error(Simpkv::DeniedError, /wrong password/)
    change_password(Slapd::PASSWORD)
    expect { other.kind('globals') }.to raise_error(Simpkv::DeniedError, /not tried again for \d+ s, unless the file/)
    simpkv!('ping', process: true)
    expect(other.kind('globals')).to eq(:folder)
    expect(File.mtime(directory.password_file)).to eq(mtime)
  end

  # Only functions, termini and doctor said so.
  it 'warns about a world-readable password file, as get, exists, put and ls do' do
    File.chmod(0o604, directory.password_file)
    [%w[put a x], %w[get a], %w[exists a], %w[ls], %w[ping]].each do |command|
      outcome = simpkv(*command)
      expect([outcome.code, outcome.err.lines])
        .to match([0, [%r{\Asimpkv: ldap/#{id}: 'admin_pw_file' .* is open to every local user \(mode 0604\): chmod}]])
    end
  ensure
    File.chmod(0o600, directory.password_file)
  end

  it 'does not touch the file if the server refuses the password' do
    ctime = File.stat(directory.password_file).ctime
    change_password('another')
    expect(simpkv('ping', process: true)).to have_attributes(out: '', err: /wrong password/)
    expect(File.stat(directory.password_file).ctime).to eq(ctime)
  ensure
    change_password(Slapd::PASSWORD)
  end
end

RSpec.describe 'simpkv ping and stats of a directory with TLS' do
  include_context 'with the command'

  let(:directory) { Slapd.new(tls: true) }
  let(:backends) do
    { 'default' => directory.options('type' => 'ldap', 'id' => 'x', 'ldap_uri' => directory.tls_uri,
                                     'tls_cacert' => directory.certificates.cacert) }
  end

  before { directory.start }

  after { directory.stop }

  # stats printed a number of seconds.
  it 'print the time at which its certificate ends' do
    ends = OpenSSL::X509::Certificate.new(File.read(directory.certificate)).not_after.utc.strftime('%FT%TZ')
    expect(simpkv!('stats', process: true)).to match(/^servers\[0\]\.tls\.certificate_ends: #{ends}$/)
    expect(simpkv!('ping', process: true)).to match(/^certificate ends: +#{ends}$/)
    json = JSON.parse(simpkv!('stats', '-o', 'json', process: true))
    expect(json.dig('pools', 0, 'servers', 0, 'tls', 'certificate_ends')).to eq(ends)
  end
  # The encryption of the first server was 'none'.
  it 'does not know the encryption of a server that does not answer' do
    backends['default']['ldap_uri'] = "ldaps://127.0.0.1:1 #{directory.tls_uri}"
    outcome = simpkv('ping', '-o', 'json', process: true)
    expect(outcome.code).to eq(69)
    expect(JSON.parse(outcome.out)['servers'].map { |server| server['encryption'] }).to match([/unknown/, /TLS/])
  end
end
