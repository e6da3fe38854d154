# frozen_string_literal: true

require_relative '../../../../spec/command/command_helper'

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
    simpkv!('-b', 'default', 'ping', process: true)
    expect(other.kind('globals')).to eq(:folder)
    expect(File.mtime(directory.password_file)).to eq(mtime)
  end

  # Only functions, termini and doctor said so.
  it 'warns about a world-readable password file, as get, exists, put and ls do' do
    File.chmod(0o604, directory.password_file)
    [%w[put a x], %w[get a], %w[exists a], %w[ls], %w[-b default ping]].each do |command|
      outcome = simpkv(*command)
      expect([outcome.code, outcome.err.lines])
        .to match([0, [%r{\Asimpkv: ldap/#{id}: 'admin_pw_file' .* is open to every local user \(mode 0604\): chmod}]])
    end
  ensure
    File.chmod(0o600, directory.password_file)
  end

  # It asked the backend that functions use only.
  it 'asks each backend, has an error of one that cannot be used, and asks one with --backend' do
    files = { 'type' => 'file', 'id' => 'files', 'root_path' => File.join(folder, 'files') }
    site = { 'default' => backends['default'], 'again' => backends['default'].merge('id' => 'again'),
             'files' => files, 'plugin' => { 'type' => 'acme', 'id' => 'x' },
             'down' => backends['default'].merge('ldap_uri' => 'ldap://127.0.0.1:1'),
             'wrong' => { 'type' => 'ldap', 'id' => 'w' } }
    FileUtils.mkdir_p(files['root_path'])
    file = File.join(folder, 'several.yaml')
    File.write(file, { 'backends' => site }.to_yaml)
    outcome = simpkv('-c', file, 'ping', '-o', 'json', process: true)
    first, *others = JSON.parse(outcome.out).then { |facts| [facts, *facts.delete('others')] }
    expect(outcome).to have_attributes(code: 69, err: %r{\Asimpkv: ldap/#{id}: .*//127.0.0.1:1.*\nsimpkv: .*ldap_uri.*})
    expect(first.keys).to eq(JSON.parse(simpkv!('-c', file, '-b', 'default', 'ping', '-o', 'json')).keys)
    expect([first, *others].map { |facts| [facts['backend'], facts['servers'].length] })
      .to match([["ldap/#{id}", 1], ['ldap/again', 1], ['file/files', 0], ["ldap/#{id}", 0], [/w/, 0]])
    expect(others.map { |facts| facts['error'] }).to match([nil, nil, %r{ldap://127.0.0.1:1}, /ldap_uri/])
    screen = simpkv('-c', file, 'ping', process: true)
    expect([screen.code, screen.out.scan(/^backend: +(\S+)$/).flatten.length]).to eq([69, 5])
    expect(screen.out).to match(/^median: .*\n\nbackend: .*^error: /m)
  end

  # 66 of the first one hid that a server was down.
  it 'fails for a store in files that nobody has made, unless another backend has an error as well' do
    site = %w[default other].to_h do |name|
      [name, { 'type' => 'file', 'id' => name, 'root_path' => File.join(folder, name) }]
    end
    file = File.join(folder, 'unmade.yaml')
    ping = lambda do |backends|
      File.write(file, { 'backends' => backends }.to_yaml)
      simpkv('-c', file, 'ping')
    end
    FileUtils.mkdir_p(File.join(folder, 'default'))
    expect(ping.call(site)).to have_attributes(code: 66, out: %r{^backend: +file/default$}, err: /'simpkv init'$/)
    FileUtils.rm_r(File.join(folder, 'default'))
    down = backends['default'].merge('ldap_uri' => 'ldap://127.0.0.1:1')
    expect(ping.call(site.merge('down' => down)).code).to eq(69)
  end

  it 'does not touch the file if the server refuses the password' do
    ctime = File.stat(directory.password_file).ctime
    change_password('another')
    expect(simpkv('-b', 'default', 'ping', process: true)).to have_attributes(out: '', err: /wrong password/)
    expect(File.stat(directory.password_file).ctime).to eq(ctime)
  ensure
    change_password(Slapd::PASSWORD)
  end
end

RSpec.describe 'simpkv ping and stats of a directory with TLS' do
  include_context 'with the command'

  let(:directory) { Slapd.new(tls: true) }
  let(:backends) do
    { 'default' => directory.options('type' => 'ldap', 'id' => 'x', 'ldap_uri' => respelt(directory.tls_uri),
                                     'tls_cacert' => directory.certificates.cacert) }
  end

  before { directory.start }

  after { directory.stop }

  # @return [String] the URI in a form that differs as text, as one without a port does
  def respelt(uri)
    "#{uri.sub('ldaps', 'LDAPS')}/"
  end

  # stats printed a number of seconds.
  it 'print the time at which its certificate ends' do
    ends = OpenSSL::X509::Certificate.new(File.read(directory.certificate)).not_after.utc.strftime('%FT%TZ')
    expect(simpkv!('stats', process: true)).to match(/^servers\[0\]\.tls\.certificate_ends: #{ends}$/)
    expect(simpkv!('ping', process: true)).to match(/^certificate ends: +#{ends}$/)
    json = JSON.parse(simpkv!('stats', '-o', 'json', process: true))
    expect(json.dig('pools', 0, 'servers', 0, 'tls', 'certificate_ends')).to eq(ends)
  end

  # There were no days: the statistics spell the server in another way. Nor did ping say how it was encrypted.
  it 'alert before the certificate ends of a server in another spelling' do
    backends['default']['write_uri'] = directory.tls_uri
    outcome = simpkv('status', '--parts', 'servers', '-o', 'json', '--certificate-critical', '9999d', process: true)
    status = JSON.parse(outcome.out)
    expect(status.dig('servers', 'servers')).to match([include('uri' => directory.tls_uri, 'writes' => true,
                                                               'certificate_days' => be >= 0)])
    expect(status['alerts']).to include(include('text' => /certificate of the server #{directory.tls_uri} expires in/))
    servers = JSON.parse(simpkv!('ping', '-o', 'json', process: true))['servers']
    expect(servers).to match([include('server' => directory.tls_uri, 'encryption' => /\ATLS/)])
  end

  # The encryption of the first server was 'none'.
  it 'does not know the encryption of a server that does not answer' do
    backends['default']['ldap_uri'] = "ldaps://127.0.0.1:1 #{directory.tls_uri}"
    outcome = simpkv('ping', '-o', 'json', process: true)
    expect(outcome.code).to eq(69)
    expect(JSON.parse(outcome.out)['servers'].map { |server| server['encryption'] }).to match([/unknown/, /TLS/])
  end
end
