# frozen_string_literal: true

require 'json'
require 'open3'
require_relative '../../gems/simpkv-server/spec/support/postgresql'
require_relative '../support/mariadb'
require_relative '../support/slapd'

# What Debian has no program for, ext/core/test/secret compares with published vectors.
RSpec.describe 'A form of a secret', :heavy, once: true do
  secret = %q(pl4nted 'secret' "of" $many %kinds \\ of ~characters!)
  other = secret.sub('secret', 'secreT')

  define_method(:form) do |format, more = {}|
    Simpkv::Native.secret_form(secret, JSON.generate({ 'format' => format }.merge(more))).first
  end

  # Runs su as a user who must know the password, on copies of the files with a line for a user named after each format.
  # su reads the password from its standard input.
  def su(lines, user, password)
    script = <<~SHELL
      mount -t tmpfs -o mode=0755 copies /mnt
      cp /etc/passwd /etc/shadow /mnt
      id=65000
      printf '%s' "$1" | while IFS=: read -r user _; do
        id=$((id + 1))
        echo "$user:x:$id:65534::/:/bin/sh"
      done >> /mnt/passwd
      printf '%s' "$1" >> /mnt/shadow
      for file in passwd shadow; do mount --bind "/mnt/$file" "/etc/$file"; done
      exec setpriv --reuid=65533 --regid=65533 --clear-groups su "$2" -c 'id --user --name'
    SHELL
    Open3.capture2e('unshare', '--mount', '--propagation', 'private', 'sh', '-euc', script, 'sh', lines, user,
                    stdin_data: "#{password}\n")
  end

  it 'is a password of /etc/shadow, which su accepts', needs: :root do
    costs = { 'yescrypt' => 5, 'bcrypt' => 5, 'sha256-crypt' => 5000, 'sha512-crypt' => 100_000 }
    lines = costs.map { |format, cost| "#{format}:#{form(format, 'cost' => cost)}:19000:0:99999:7:::\n" }.join
    costs.each_key do |format|
      output, status = su(lines, format, secret)
      expect([output[/\S+$/], status.exitstatus]).to eq([format, 0])
    end
    output, status = su(lines, 'yescrypt', other)
    expect([output[/su: .*/], status.exitstatus]).to eq(['su: Authentication failure', 1])
  end

  it 'is a password of Apache, which htpasswd accepts' do
    forms = { 'apr1' => {}, 'htpasswd-bcrypt' => { 'cost' => 5 } }
    Dir.mktmpdir do |folder|
      file = File.join(folder, 'htpasswd')
      File.write(file, forms.map { |format, more| "#{format}:#{form(format, more)}\n" }.join)
      accepted = forms.keys.product([secret, other]).map do |format, password|
        Open3.capture2e('htpasswd', '-vb', file, format, password).last.success?
      end
      expect(accepted).to eq([true, false, true, false])
    end
  end

  # A configuration that asks for the algorithms of a FIPS provider, which is not loaded.
  it 'fails if OpenSSL refuses its digest' do
    digests = { 'apr1' => 'MD5', 'ssha' => 'SHA1', 'caching_sha2_password' => 'SHA256',
                'scram-sha-256' => 'SCRAM-SHA-256' }
    script = <<~RUBY
      JSON.parse(ARGV.first).each do |format|
        Simpkv::Native.secret_form('pl4nted', JSON.generate('format' => format))
      rescue Simpkv::UnavailableError => e
        puts e.message[/\\AOpenSSL cannot compute \\S+(?=:)/]
      end
    RUBY
    Dir.mktmpdir do |folder|
      file = File.join(folder, 'openssl.cnf')
      File.write(file, "openssl_conf = all\n[all]\nalg_section = own\n[own]\ndefault_properties = fips=yes\n")
      lib = File.expand_path('../../lib', __dir__)
      output, = Open3.capture2e({ 'OPENSSL_CONF' => file }, RbConfig.ruby, '-I', lib, '-rjson', '-rsimpkv/native',
                                '-e', script, JSON.generate(digests.keys))
      expect(output.lines(chomp: true)).to eq(digests.values.map { |digest| "OpenSSL cannot compute #{digest}" })
    end
  end

  it 'is a password of PostgreSQL' do
    logins = { 'usual' => form('scram-sha-256'), 'slow' => form('scram-sha-256', 'cost' => 10_000) }
    PostgreSQL.run('formats', logins: logins) do |server|
      accepted = logins.keys.product([secret, other]).map { |role, password| server.accepts?(role, password) }
      expect(accepted).to eq([true, false, true, false])
    end
  end

  it 'is a password of MariaDB' do
    MariaDb.run do |server|
      server.add_user('app', form('mysql_native_password'))
      expect([secret, other].map { |password| server.accepts?('app', password) }).to eq([true, false])
    end
  end

  it 'is a password of OpenLDAP' do
    Slapd.run do |server|
      server.modify(<<~LDIF)
        dn: #{Slapd::STRANGER_DN}
        changetype: modify
        replace: userPassword
        userPassword: #{form('ssha')}
      LDIF
      accepted = [secret, other].map do |password|
        system('ldapwhoami', '-x', '-D', Slapd::STRANGER_DN, '-w', password, '-H', server.uri, %i[out err] => File::NULL)
      end
      expect(accepted).to eq([true, false])
    end
  end
end
