# frozen_string_literal: true

require 'etc'
require 'simpkv/config'
require 'simpkv/backend/ldap_access'
require 'tmpdir'
require_relative '../support/processes'

RSpec.describe Simpkv::LdapAccess do
  def settings(more = {})
    Simpkv::Config.typed({ 'type' => 'ldap', 'id' => 'x', 'ldap_uri' => 'ldap://a' }.merge(more), 'b')
  end

  describe '.problem' do
    def problem(more = {})
      described_class.problem(settings({ 'admin_pw_file' => __FILE__ }.merge(more)))&.text
    end

    it 'is nil for valid settings' do
      [{}, { 'ldap_uri' => 'ldaps://a', 'tls_cacert' => __FILE__ },
       { 'ldap_uri' => 'ldapi://x', 'admin_pw_file' => nil },
       { 'enable_tls' => true, 'tls_cacert' => __FILE__, 'tls_cert' => __FILE__, 'tls_key' => __FILE__ },
       { 'ldap_uri' => 'ldapi://x', 'enable_tls' => true }].each { |more| expect(problem(more)).to be_nil }
    end

    {
      { 'ldap_uri' => nil } => "Plugin missing 'ldap_uri' configuration",
      { 'ldap_uri' => 'http://a' } => %r{\AInvalid 'ldap_uri' configuration: 'http://a' is not ldap:},
      { 'ldap_uri' => 'ldap://a ldaps:/too/few' } => %r{\AInvalid 'ldap_uri' configuration: 'ldaps:/too/few' is not},
      { 'ldap_uri' => 'ldap://' } => /\AInvalid 'ldap_uri' configuration: /,
      { 'write_uri' => 'a' } => /\AInvalid 'write_uri' configuration: 'a' is not ldap:/,
      { 'admin_pw_file' => nil } => "Plugin missing 'admin_pw_file' configuration",
      { 'ldap_uri' => 'ldapi://x', 'write_uri' => 'ldap://a', 'admin_pw_file' => nil } =>
        "Plugin missing 'admin_pw_file' configuration",
      { 'admin_pw_file' => '/no/such' } => "Configured 'admin_pw_file' /no/such does not exist",
      { 'admin_pw_file' => __dir__ } => "Configured 'admin_pw_file' #{__dir__} is a folder, not a file",
      { 'ldap_uri' => 'ldapi://x', 'admin_pw_file' => '/no/such' } =>
        "Configured 'admin_pw_file' /no/such does not exist",
      { 'ldap_uri' => 'ldaps://a' } => "TLS configuration incomplete: 'tls_cacert' is missing",
      { 'ldap_uri' => 'ldaps://a', 'enable_tls' => false } => "TLS configuration incomplete: 'tls_cacert' is missing",
      { 'enable_tls' => true } => "TLS configuration incomplete: 'tls_cacert' is missing",
      { 'enable_tls' => true, 'tls_cacert' => __FILE__, 'tls_key' => __FILE__ } =>
        "TLS configuration incomplete: 'tls_cert' and 'tls_key' come as a pair",
      { 'enable_tls' => true, 'tls_cacert' => '/no/such' } => "Configured 'tls_cacert' /no/such does not exist"
    }.each do |more, expected|
      it "names the problem: #{more}" do
        expect(problem(more)).to match(expected)
      end
    end
  end

  describe '.remedy' do
    # The remedy of a missing file was to let the user read it: the text of the problem decided, with the file's name.
    it 'follows the kind of the problem, whatever the file is called' do
      given = settings('admin_pw_file' => "/no/cannot be read by/'tls_key'")
      expect(described_class.remedy(given, described_class.problem(given))).to match(/\Awrite the password of /)
    end
  end

  describe '.problem, of another user', needs: :fork do
    include Processes

    it 'names a file that this user cannot read or reach' do
      Dir.mktmpdir do |folder|
        File.chmod(0o755, folder)
        closed = File.join(folder, 'closed')
        Dir.mkdir(closed, 0o700)
        files = [File.join(folder, 'password'), File.join(closed, 'password')]
        files.each { |file| File.write(file, 'x', perm: 0o600) }
        as_nobody do
          problems = files.map { |file| described_class.problem(settings('admin_pw_file' => file)).text }
          name = Etc.getpwuid.name
          problems == ["Configured 'admin_pw_file' #{files[0]} cannot be read by the user #{name}",
                       "Configured 'admin_pw_file' #{files[1]} cannot be read by the user #{name}: Permission denied"]
        end
      end
    end
  end

  describe '.warnings' do
    # 'chmod o=' of the folder /etc was the advice for 'admin_pw_file: /etc'.
    it 'give no advice on the rights of a folder' do
      expect(described_class.warnings('admin_pw_file' => __dir__)).to eq([])
    end
  end

  describe '.open_files' do
    # The name of the file was cut, and its rest was the advice.
    it 'keep the advice apart from the name of the file' do
      Dir.mktmpdir do |folder|
        file = File.join(folder, "a: 'tls_key'")
        File.write(file, 'x')
        File.chmod(0o604, file)
        why = "'admin_pw_file' #{file} is open to every local user (mode 0604)"
        expect(described_class.open_files('admin_pw_file' => file)).to eq('admin_pw_file' => [why, "chmod o= #{file}"])
      end
    end
  end

  describe '.warnings, of another user', needs: :fork do
    include Processes

    # 'chmod o=' alone would have kept this user from the file.
    it 'give the group of the user rights that the others lose' do
      Dir.mktmpdir do |folder|
        File.chmod(0o755, folder)
        file = File.join(folder, 'password')
        File.write(file, 'x')
        File.chmod(0o644, file)
        found = File.join(folder, 'found')
        File.write(found, '')
        File.chmod(0o666, found)
        as_nobody { File.write(found, described_class.warnings(settings('admin_pw_file' => file)).join) }
        expect(File.read(found)).to match(/mode 0644.*: chgrp \d+ #{file} && chmod g=r,o= #{file}\z/)
        system(File.read(found)[/chgrp.*/], exception: true)
        as_nobody { File.readable?(file) && described_class.warnings(settings('admin_pw_file' => file)).empty? }
      end
    end
  end

  describe '.writer_warning' do
    it 'names no writer if several servers are read and none is to be written (two took writes, unnoticed)' do
      several = settings('ldap_uri' => %w[ldap://a ldap://b])
      expect(described_class.writer_warning(several)).to match(/'ldap_uri' names several.*: set 'write_uri' to one/)
      expect(described_class.writer_warning(several.merge('write_uri' => 'ldap://a'))).to be_nil
      expect(described_class.writer_warning(settings({}))).to be_nil
    end
  end

  describe '.command' do
    {
      { 'admin_pw_file' => '/pw' } =>
        'ldapsearch -LLL -H ldap://a:389 -x -D cn=Directory_Manager -y /pw -b ou=simpkv,o=puppet,dc=simp -s base 1.1',
      { 'ldap_uri' => 'ldapi://%2Frun%2Fldapi', 'base_dn' => 'dc=x', 'enable_tls' => true } =>
        'ldapsearch -LLL -H ldapi://%2Frun%2Fldapi -Q -Y EXTERNAL -b dc=x -s base 1.1',
      { 'ldap_uri' => %w[ldaps://a ldaps://b], 'admin_pw_file' => '/pw', 'base_dn' => 'dc=x', 'tls_cacert' => '/ca' } =>
        "LDAPTLS_CACERT=/ca ldapsearch -LLL -H 'ldaps://a:636 ldaps://b:636' -x -D cn=Directory_Manager -y /pw " \
        '-b dc=x -s base 1.1',
      { 'admin_pw_file' => '/pw', 'enable_tls' => true, 'tls_cacert' => '/ca', 'tls_cert' => '/c', 'tls_key' => '/k',
        'base_dn' => 'dc=x' } =>
        'LDAPTLS_CACERT=/ca LDAPTLS_CERT=/c LDAPTLS_KEY=/k ldapsearch -LLL -ZZ -H ldap://a:389 -x ' \
        '-D cn=Directory_Manager -y /pw -b dc=x -s base 1.1'
    }.each do |more, expected|
      it "reads the base entry: #{more}" do
        expect(described_class.command(settings(more))).to eq(expected)
      end
    end

    it 'names the password file itself if it cannot be read' do
      expect(described_class.command(settings('admin_pw_file' => '/proc/self'))).to include('-y /proc/self ')
    end

    it 'is quoted for a shell' do
      hostile = "cn=a'b\"$(touch x)`y`;*? \\ \n&"
      command = described_class.command(settings('admin_dn' => hostile, 'admin_pw_file' => '/a b'))
      words = IO.popen(['sh', '-c', "for word in #{command}; do printf '%s\\0' \"$word\"; done"], &:read).split("\0")
      expect(words.values_at(5, 6, 7, 8)).to eq(['-D', hostile, '-y', '/a b'])
    end
  end
end
