# frozen_string_literal: true

require_relative '../support/sshd'
require_relative 'authorized_keys_helper'
require_relative 'puppet_process'

# Puppet runs in processes of their own, and writes files of the user that runs the examples.
RSpec.describe 'simpkv::authorized_keys with puppet apply', needs: :mri do
  include_context 'with authorized keys'
  include PuppetProcess

  let(:file) { File.join(folder, 'authorized_keys') }
  let(:another_file) { File.join(folder, 'another', 'authorized_keys') }
  let(:another_user) { Process.uid.zero? ? 'nobody' : user }
  let(:purging) { "purge => true, user => '#{user}', target => '#{file}'" }
  let(:ed25519) { Array.new(6) { |seed| SshKeys.text(SshKeys::ED25519, seed) } }

  around do |example|
    ENV['SIMPKV_CONFIG'] = config
    example.run
  ensure
    ENV.delete('SIMPKV_CONFIG')
  end

  # @return [String] the output of a run without failures
  def apply(manifest, *more)
    output, code = puppet('apply', '--detailed-exitcodes', *more, '-e', manifest)
    raise output unless [0, 2].include?(code)

    @changed = code == 2
    output
  end

  # @return [String, nil] what a run told about the lines that it removed
  def removed(output)
    output[%r{^Notice: .*/Simpkv_ssh_purge\[felix\]/overlooked: removed keys in lines (.*)$}, 1]
  end

  # @return [Array<String>] the lines of a file without those that Puppet adds
  def lines(name = file)
    File.read(name).lines(chomp: true).grep_v(/\A# HEADER:/)
  end

  def expect_no_change(manifest)
    before = File.read(file)
    output = apply(manifest)
    expect(output).not_to match(/Ssh_authorized_key|overlooked/)
    expect([@changed, File.read(file)]).to eq([false, before])
  end

  it 'leaves exactly the managed key, and names each key that it removes' do
    managed, twice, once, foreign = ed25519
    File.write(file, "#{managed} felix@laptop\n#{twice}\n#{twice}\n#{once}\n#{foreign} a foreign key\n")
    fill('felix' => SshKeys.value(managed, 'felix@laptop'))

    noop = apply(authorized_keys(purging), '--noop')
    unnamed = (1..3).map { |number| "#{file}:unnamed-#{number}" }.join(', ')
    expect(noop).to match(/overlooked: .*lines 2, 3, 4, 5 \(#{unnamed}, "a foreign key"\).*noop/)
    expect(lines.length).to eq(5)

    output = apply(authorized_keys(purging))
    expect(removed(output)).to eq("2, 3, 4, 5 (#{unnamed}, \"a foreign key\")")
    expect(output.scan('Notice: /').length).to eq(1)
    expect(lines).to eq(["#{managed} felix@laptop"])
    expect_no_change(authorized_keys(purging))
  end

  # sshkeys_core tells keys apart by their comments. Left alone, it kept the other keys with the comments `felix` and
  # `three`, and because of the last two lines it did nothing at all.
  it 'manages keys of all kinds, and removes others with equal comments, and lines that sshkeys_core cannot read' do
    managed, old = ed25519
    kinds = { 'ca' => SshKeys.value(ed25519[2], 'CA', ['cert-authority', 'principals="root,web"']),
              'sk' => SshKeys.value(SshKeys.text(SshKeys::SECURITY_KEY), 'security key', ['verify-required']),
              'ecdsa' => SshKeys.value(SshKeys.text(SshKeys::ECDSA), 'Jérôme  at home'),
              'certificate' => SshKeys.value(SshKeys.text(SshKeys::CERTIFICATE), "two\nlines"),
              'no_comment' => SshKeys.value(ed25519[3], '',
                                            ['command="echo \\"a, b\\" \\ c"', 'from="192.0.2.0/24,!192.0.2.1"']),
              'again' => SshKeys.value(ed25519[3], 'twice'), 'again2' => SshKeys.value(managed, 'twice') }
    fill(kinds.merge('felix' => SshKeys.value(managed, 'felix')))
    File.write(file, <<~KEYS)
      # a comment
      #{old} felix
      #{managed} felix
      #{old} three
      #{managed} three
      #{old} three
      #{old} was ssh-rsa AAAA
      #{SshKeys.text(SshKeys::UNMANAGED)} felix
      no key at all
      #{SshKeys.text(SshKeys::UNMANAGED)} 1 2 3
      environment="A=#" #{SshKeys.text(SshKeys::UNMANAGED)} 1 2 3
    KEYS

    output = apply(authorized_keys(purging))
    expect(removed(output)).to match(/\A2, 4, 5, 6, 7, 8, 10, 11 \(.*\); turned lines 9, which are no keys, into/)
    expect(lines.first(3)).to eq(['# a comment', "#{managed} felix", '# no key at all'])
    expect(lines.drop(3)).to contain_exactly(
      "cert-authority,principals=\"root,web\" #{ed25519[2]} CA", "#{SshKeys.text(SshKeys::ECDSA)} Jérôme  at home",
      "verify-required #{SshKeys.text(SshKeys::SECURITY_KEY)} security key",
      "#{SshKeys.text(SshKeys::CERTIFICATE)} felix/certificate", "#{ed25519[3]} felix/again", "#{managed} felix/again2",
      "command=\"echo \\\"a, b\\\" \\ c\",from=\"192.0.2.0/24,!192.0.2.1\" #{ed25519[3]} felix/no_comment"
    )
    expect_no_change(authorized_keys(purging))

    apply(authorized_keys("ensure => absent, user => '#{user}', target => '#{file}'"))
    expect(lines).to eq(['# a comment', '# no key at all'])
  end

  # The keys with other comments, and the first one of two with the same comment, used to stay.
  it 'removes the keys of an absent resource under any comment, and no others' do
    stored, plain, shared, foreign = ed25519
    fill('a' => SshKeys.value(stored, 'felix'), 'b' => SshKeys.value(plain), 'c' => SshKeys.value(shared, 'shared'))
    fill({ 'd' => SshKeys.value(shared, 'anna') }, 'anna')
    kept = ["# #{stored} felix", "#{foreign} a foreign key", foreign, "#{foreign} a foreign key", "#{shared} anna"]
    File.write(file, ["#{stored} another comment", "no-pty #{stored} felix", "#{stored} felix", stored, plain,
                      "#{plain} plain", "#{shared} also shared", *kept].map { |line| "#{line}\n" }.join)
    manifest = authorized_keys("ensure => absent, user => '#{user}', target => '#{file}'") +
               authorized_keys("user => '#{user}', target => '#{file}'", 'anna')

    expect(apply(manifest, '--noop')).to match(/overlooked: .*lines 1, 2, 3, 4, 5, 6, 7 .*noop/)
    expect(removed(apply(manifest))).to start_with('1, 2, 3, 4, 5, 6, 7 ')
    expect(lines).to eq(kept)
    expect_no_change(manifest)
  end

  # The run of an agent used to leave `felix` in the other file for ever. Then it took two runs.
  it 'removes a key whose comment belongs to a key of another file, and lines that are not UTF-8, in one run' do
    felix, annas, old = ed25519
    File.binwrite(file, "#{felix} felix\n#{old} anna\n".b + "#{old} caf\xE9\n# caf\xE9\n".b)
    # The group of the file is root, which the user is no member of.
    Dir.mkdir(File.dirname(another_file))
    File.write(another_file, "#{felix} felix\n#{old}\n", perm: 0o640)
    File.chmod(0o711, folder)
    FileUtils.chown_R(another_user, nil, File.dirname(another_file))
    fill('felix' => SshKeys.value(felix, 'felix'))
    fill({ 'anna' => SshKeys.value(annas, 'anna') }, 'anna')
    manifest = authorized_keys("purge => true, user => '#{another_user}', target => '#{another_file}'", 'anna') +
               authorized_keys(purging)

    apply(manifest)
    expect([File.binread(file), lines(another_file)]).to eq(["#{felix} felix\n# caf\xE9\n".b, ["#{annas} anna"]])
    expect_no_change(manifest)
  end

  it 'fails for a user that does not exist, and for one without a home' do
    fill('felix' => SshKeys.value(ed25519.first, 'felix'))
    output, code = puppet('apply', '--detailed-exitcodes', '-e',
                          authorized_keys("purge => true, user => 'simpkv-nobody'") +
                          authorized_keys("purge => true, user => 'nobody', folder => 'ssh/felix'", 'nobody'))
    expect([code, output]).to match([6, /User 'simpkv-nobody' does not exist/])
    expect(output).to match(%r{nobody\].*/nonexistent/\.ssh/.* cannot be written\. No such file or directory\. Create})
  end

  # ssh and sshd need the home folder of the user for nothing.
  it 'lets a user log in with a stored key, and not after the key was removed' do
    Sshd.run do |sshd|
      manifest = authorized_keys(purging.sub(file, sshd.authorized_keys))
      private_keys = %w[stays goes foreign].map { |name| File.join(sshd.folder, name) }
      stays, goes, foreign = private_keys.map { |name| Sshd.make_key(name) }
      File.write(sshd.authorized_keys, "#{foreign} stays\n#{stays} stays\n")
      fill('stays' => SshKeys.value(stays, 'stays'), 'goes' => SshKeys.value(goes, '', ['command="echo forced"']))
      expect(private_keys.map { |name| sshd.login(name) }).to eq(["logged in\n", nil, "logged in\n"])

      apply(manifest)
      expect(private_keys.map { |name| sshd.login(name) }).to eq(["logged in\n", "forced\n", nil])

      simpkv!('rm', 'ssh/felix/goes')
      apply(manifest)
      expect(private_keys.map { |name| sshd.login(name) }).to eq(["logged in\n", nil, nil])
    end
  end
end
