# frozen_string_literal: true

require 'socket'
require 'timeout'
require_relative '../support/sshd'
require_relative 'authorized_keys_helper'

# What users can do to their file, its folder and their home, and what administrators do with central folders. Root runs
# Puppet here, and the keys are those of the user nobody. A run must remove the foreign key, or fail and say what to do;
# and it must leave the files of others as they are.
RSpec.describe 'simpkv::authorized_keys, as root, with files of a user', needs: %i[mri root] do
  include_context 'with authorized keys'

  let(:nobody) { Etc.getpwnam('nobody') }
  let(:home) { File.join(folder, 'home') }
  let(:ssh) { File.join(home, '.ssh') }
  let(:file) { File.join(ssh, 'authorized_keys') }
  let(:others) { File.join(folder, 'others') }
  let(:others_file) { File.join(others, 'authorized_keys') }
  let(:stored) { "#{SshKeys.text} stored\n" }
  let(:content) { "#{SshKeys.text(SshKeys::ED25519, 2)} foreign\n#{stored}" }

  before do
    File.chmod(0o711, folder)
    Dir.mkdir(home, 0o700)
    File.chown(nobody.uid, nobody.gid, home)
    by_user { [Dir.mkdir(ssh, 0o700), File.write(file, content, perm: 0o600)] }
    Dir.mkdir(others, 0o755)
    File.write(others_file, content, perm: 0o644)
    fill('a' => SshKeys.value(SshKeys.text, 'stored'))
  end

  after { system('chattr', '-i', file, err: File::NULL) if File.file?(file) && !File.symlink?(file) }

  def by_user(&block)
    Puppet::Util::SUIDManager.asuser('nobody', &block)
  end

  def manifest(more = '', target: file, user: 'nobody')
    authorized_keys("purge => true, user => '#{user}', target => '#{target}' #{more}")
  end

  # @return [Array<String>] the messages of a run about resources that failed
  def failures(manifest)
    report = Timeout.timeout(60) { world.apply(manifest) }
    report.logs.select { |log| log.level == :err }.map(&:message)
  end

  # @return [Array] owner, group and mode
  def permissions(name = file)
    status = File.stat(name)
    [status.uid, status.gid, status.mode & 0o7777]
  end

  # @return [Array<String>] of the user and of others
  def files
    Dir.glob(File.join(folder, '{home,others}/**/*'), File::FNM_DOTMATCH).sort
  end

  def expect_others_unchanged
    expect([File.read(others_file), permissions(others_file), Dir.children(others)])
      .to eq([content, [0, 0, 0o644], ['authorized_keys']])
  end

  # The first is a name, the second what happens, in the context of the example.
  removed = {
    'nothing' => -> {},
    'made the file read-only' => -> { File.chmod(0o400, file) },
    'made the file unreadable' => -> { File.chmod(0o000, file) },
    'made the file write-only' => -> { File.chmod(0o200, file) },
    'opened the file to all' => -> { File.chmod(0o666, file) },
    'made the folder read-only' => -> { File.chmod(0o500, ssh) },
    'made the folder unreadable' => -> { File.chmod(0o300, ssh) },
    'closed the folder' => -> { File.chmod(0o000, ssh) },
    'closed the home' => -> { File.chmod(0o000, home) },
    'made file, folder and home read-only' => -> { [file, ssh, home].each { |name| File.chmod(0o500, name) } },
    'got a file of root' => -> { File.chown(0, 0, file) },
    'got a file of root that only root reads' => -> { [File.chown(0, 0, file), File.chmod(0o600, file)] },
    'got a file of somebody else' => -> { File.chown(Etc.getpwnam('daemon').uid, nil, file) },
    'made a hard link of the file' => -> { by_user { File.link(file, File.join(home, 'copy')) } }
  }
  removed.each do |what, change|
    it "removes a foreign key after the user has #{what}" do
      instance_exec(&change)
      before = permissions
      expect(failures(manifest)).to eq([])
      expect([File.read(file), permissions, Dir.children(ssh)]).to eq([stored, before, ['authorized_keys']])
      expect_others_unchanged
    end
  end

  # Root has a reserve on the disk.
  it 'removes a foreign key after the user has filled the disk' do
    disk = File.join(folder, 'disk')
    FileUtils.touch(disk)
    File.truncate(disk, 8 << 20)
    system('mkfs.ext4', '-q', '-m', '20', disk, exception: true)
    system('mount', '-o', 'loop', disk, home, exception: true)
    File.chown(nobody.uid, nobody.gid, home)
    by_user { [Dir.mkdir(ssh, 0o700), File.write(file, content, perm: 0o600)] }
    expect { by_user { File.open(File.join(home, 'full'), 'w') { |full| loop { full.write('x' * 4096) } } } }
      .to raise_error(Errno::ENOSPC)
    expect(failures(manifest)).to eq([])
    expect([File.read(file), permissions, Dir.children(ssh)])
      .to eq([stored, [nobody.uid, nobody.gid, 0o600], ['authorized_keys']])
  ensure
    system('umount', home)
  end

  linked = {
    'the file into another folder' => lambda do
      Dir.mkdir(File.join(home, 'dotfiles'))
      File.rename(file, File.join(home, 'dotfiles', 'keys'))
      File.symlink('../dotfiles/keys', file)
    end,
    'the folder' => lambda do
      File.rename(ssh, File.join(home, 'dotfiles'))
      File.symlink('dotfiles', ssh)
    end
  }
  linked.each do |what, change|
    it "removes a foreign key after the user has linked #{what}, and keeps the link" do
      by_user { instance_exec(&change) }
      expect(failures(manifest)).to eq([])
      expect([File.read(file), [file, ssh].count { |name| File.symlink?(name) }]).to eq([stored, 1])
      expect_others_unchanged
    end
  end

  # As above, with a part of the message. None of these files lets the user log in, or the key stays and the run fails.
  link = ->(target, name) { by_user { [FileUtils.rm_r(name), File.symlink(target, name)] } }
  refused = {
    'linked the file to that of somebody else' =>
      [-> { instance_exec(others_file, file, &link) }, /authorized_keys is a link, and root follows no link/],
    'linked the file to one that only root can read' =>
      [-> { [File.chmod(0o600, others_file), instance_exec(others_file, file, &link)] }, /authorized_keys is a link/],
    'linked the folder to that of somebody else' =>
      [-> { instance_exec(others, ssh, &link) }, /\.ssh is a link, and root follows no link that others can change/],
    'linked the home to that of somebody else' =>
      [lambda do
        [File.chown(nobody.uid, nil, folder), FileUtils.rm_r(home), Dir.mkdir("#{others}/.ssh")]
        [File.write("#{others}/.ssh/authorized_keys", content), by_user { File.symlink(others, home) }]
      end, /home is a link, and root follows no link/],
    'linked the file to itself' => [-> { instance_exec('authorized_keys', file, &link) }, /Replace .* by a file/],
    'linked the file to a missing folder' =>
      [-> { instance_exec('/nonexistent/x/keys', file, &link) }, /cannot be read.*No such file/],
    'linked the file to a device' => [-> { instance_exec('/dev/zero', file, &link) }, /is no regular file: remove it/],
    'put a FIFO in its place' =>
      [-> { by_user { [File.unlink(file), File.mkfifo(file)] } }, /is no regular file: remove it/],
    'put a FIFO in its place that nobody else can read' =>
      [-> { by_user { [File.unlink(file), File.mkfifo(file, 0)] } }, /is no regular file: remove it/],
    'put a socket in its place' =>
      [-> { by_user { [File.unlink(file), UNIXServer.new(file)] } }, /is no regular file: remove it/],
    'put a folder in its place' => [-> { by_user { [File.unlink(file), Dir.mkdir(file)] } }, /is no regular file/],
    'put a full folder in its place' =>
      [-> { by_user { [File.unlink(file), Dir.mkdir(file), File.write("#{file}/x", '')] } }, /is no regular file/],
    'made the file huge' => [-> { by_user { File.truncate(file, 1 << 40) } }, /more than 16777216 bytes: shorten it/],
    'put a file in place of the folder' =>
      [-> { by_user { [FileUtils.rm_r(ssh), File.write(ssh, '')] } }, /Replace .*\.ssh by a folder/],
    'put a FIFO in place of the folder' =>
      [-> { by_user { [FileUtils.rm_r(ssh), File.mkfifo(ssh, 0)] } }, /Replace .*\.ssh by a folder/],
    'removed the folder and made the home read-only' =>
      [-> { by_user { [FileUtils.rm_r(ssh), File.chmod(0o500, home)] } }, /nobody: Permission denied; root: No such/],
    'moved a folder of root there' =>
      [-> { [FileUtils.rm_r(ssh), Dir.mkdir(ssh), File.write(file, content)] }, /belongs to user 0: give it to nobody/],
    'got a closed folder of somebody else' =>
      [-> { [File.chown(Etc.getpwnam('daemon').uid, nil, ssh)] }, /\.ssh belongs to user \d+: give it to nobody/]
  }
  refused.each do |what, (change, message)|
    it "fails after the user has #{what}, says what to do, and changes nothing" do
      instance_exec(&change)
      before = files
      expect(failures(manifest)).to include(message)
      expect(files).to eq(before)
      expect(File.read(others_file)).to eq(content)
    end
  end

  # Not every file system has these.
  immutable = Dir.mktmpdir { |name| system('chattr', '+i', name, err: File::NULL) && system('chattr', '-i', name) }
  it 'fails if the file is immutable, and says how to see that', if: immutable do
    system('chattr', '+i', file, exception: true)
    expect(failures(manifest)).to include(/nobody: Operation not permitted; root: Operation not permitted.*lsattr/)
    expect(File.read(file)).to eq(content)
  end

  lists = system('which setfacl', out: File::NULL)
  it 'gives others no right by an access control list that the user has set', if: lists do
    by_user { system('setfacl', '-m', 'd:u:daemon:rwx', ssh, exception: true) }
    expect(failures(manifest)).to eq([])
    expect([File.read(file), `getfacl -cp #{file}`]).to match([stored, /^mask::---$/])
  end

  it 'makes a missing folder and file as the user' do
    by_user { FileUtils.rm_r(ssh) }
    expect(failures(manifest)).to eq([])
    expect([File.read(file), permissions, permissions(ssh)])
      .to eq([stored, [nobody.uid, nobody.gid, 0o600], [nobody.uid, nobody.gid, 0o700]])
  end

  # Puppet asks for the files of all users at once, and one of them stopped the keys of all others.
  it 'manages the keys of other users, whatever one user does' do
    by_user { [File.unlink(file), File.mkfifo(file)] }
    expect(failures(manifest + authorized_keys("purge => true, user => 'root', folder => 'ssh/felix', " \
                                               "target => '#{others_file}'", 'root')))
      .to include(/#{Regexp.escape(file)} is no regular file/)
    expect(File.read(others_file)).to eq("#{SshKeys.text} root/a\n")
  end

  describe 'in a central folder' do
    let(:central) { File.join(folder, 'central') }
    let(:central_file) { File.join(central, 'nobody') }

    before { Dir.mkdir(central, 0o755) }

    def apply_central(target = central_file)
      failures(manifest(', central => true', target: target))
    end

    it 'makes a file of root that sshd can read as the user' do
      expect(apply_central).to eq([])
      expect([File.read(central_file), permissions(central_file)]).to eq([stored, [0, 0, 0o644]])
      expect(by_user { File.read(central_file) }).to eq(stored)
    end

    it 'gives a file of the user to root, also if its keys are right' do
      by_user { File.read(file) }
      File.write(central_file, stored, perm: 0o600)
      File.chown(nobody.uid, nobody.gid, central_file)
      expect(apply_central).to eq([])
      expect([File.read(central_file), permissions(central_file)]).to eq([stored, [0, 0, 0o644]])
    end

    it 'follows links of root, and removes foreign keys' do
      File.write(central_file, content)
      File.symlink('central', File.join(folder, 'link'))
      File.symlink('nobody', File.join(central, 'again'))
      expect(apply_central(File.join(folder, 'link', '..', 'link', 'again'))).to eq([])
      expect([File.read(central_file), File.symlink?(File.join(central, 'again'))]).to eq([stored, true])
    end

    it 'refuses folders that others can write, and those of the user' do
      File.chmod(0o777, central)
      expect(apply_central).to include(/central is a folder of root that others can write: change its mode/)
      expect(apply_central(file)).to include(/home belongs to user #{nobody.uid}: give it to root/)
      expect(apply_central(File.join(folder, 'missing', 'nobody'))).to include(/Create the folder .*missing$/)
      expect([Dir.children(central), File.read(file)]).to eq([[], content])
    end

    it 'writes without `central` what the folder of root has, and a new file for the user' do
      expect(failures(manifest(target: central_file))).to eq([])
      expect([File.read(central_file), permissions(central_file)]).to eq([stored, [nobody.uid, nobody.gid, 0o600]])
    end
  end

  describe 'with sshd' do
    let(:keys) { Dir.mktmpdir('keys', folder) }

    # @return [Array(String, String)] the file of a private key, and the public key
    def key_pair(name)
      private_key = File.join(keys, name)
      [private_key, Sshd.make_key(private_key)]
    end

    # A line that used to stay, because its base64 text was another one.
    spellings = {
      'a CR' => ->(type, data) { "#{type} #{data[0, 30]}\r#{data[30..]} x" },
      'a VT' => ->(type, data) { "#{type} #{data[0, 30]}\v#{data[30..]} x" },
      'a FF before the data' => ->(type, data) { "#{type} \f#{data}" },
      'a CR at the end' => ->(type, data) { "#{type} #{data}\r" },
      'a NUL after the data' => ->(type, data) { "#{type} #{data}\0 x" },
      'tabs' => ->(type, data) { "\t#{type}\t#{data}\tx" },
      'options with a quote' => ->(type, data) { "environment=\"A=\\\" ssh-rsa AAAA\" #{type} #{data} # x" }
    }
    it 'refuses the keys of an absent resource however they are written, and whatever the user does' do
      private_key, public_key = key_pair('gone')
      fill('a' => SshKeys.value(public_key, 'gone'))
      Sshd.run(authorized_keys: file) do |sshd|
        spellings.each_value.with_index do |spelling, number|
          File.binwrite(file, "#{spelling.call(*public_key.split)}\n#{stored}")
          File.chmod([0o400, 0o000, 0o600][number % 3], file)
          File.chmod([0o500, 0o700][number % 2], ssh)
          expect(sshd.login(private_key)).to eq("logged in\n")
          expect(failures(authorized_keys("ensure => absent, user => 'nobody', target => '#{file}'"))).to eq([])
          expect([sshd.login(private_key), File.read(file)]).to eq([nil, stored])
        end
      end
    end

    it 'lets the user log in with a stored key of a central file, and with no other one' do
      private_key, public_key = key_pair('stored')
      foreign, foreign_key = key_pair('foreign')
      fill('a' => SshKeys.value(public_key, 'stored'))
      Dir.mkdir(File.join(folder, 'central'), 0o755)
      Sshd.run(authorized_keys: File.join(folder, 'central', '%u')) do |sshd|
        central = File.join(folder, 'central', 'nobody')
        File.write(central, "#{foreign_key} stored\n", perm: 0o600)
        File.chown(nobody.uid, nobody.gid, central)
        expect([private_key, foreign].map { |key| sshd.accepts?(key, 'nobody') }).to eq([false, true])
        expect(failures(manifest(', central => true', target: central))).to eq([])
        expect([private_key, foreign].map { |key| sshd.accepts?(key, 'nobody') }).to eq([true, false])
      end
    end
  end

  # The child swaps names as fast as it can until the parent has made its attempts.
  def during(attack)
    child = fork do
      Process::Sys.setgid(nobody.gid)
      Process::Sys.setuid(nobody.uid)
      loop { instance_exec(&attack) }
    end
    yield
  ensure
    Process.kill(:KILL, child)
    Process.wait(child)
  end

  # A file of somebody else, so that the user's rights are not enough, and a file that gets its owner is noticed.
  def restore
    File.unlink(file) if File.symlink?(file) || File.exist?(file)
    File.open(file, File::WRONLY | File::CREAT | File::EXCL) do |fresh|
      fresh.write(content)
      fresh.chown(Etc.getpwnam('daemon').uid, nil)
    end
  rescue Errno::EEXIST, Errno::ENOENT
    nil
  end

  swaps = {
    'the folder for a link' => lambda do
      File.rename(ssh, "#{home}/mine") unless File.exist?("#{home}/mine")
      File.symlink(others, ssh)
      File.unlink(ssh)
      File.rename("#{home}/mine", ssh)
    rescue Errno::EEXIST # The parent has made the folder.
      File.rename("#{home}/mine", ssh)
    end,
    'the file for a link' => lambda do
      File.rename(file, "#{home}/mine")
      File.symlink(others_file, file)
      File.unlink(file) if File.symlink?(file)
      File.rename("#{home}/mine", file) unless File.exist?(file)
    end,
    'the new file for a link' => lambda do
      Dir.glob("#{ssh}/.authorized_keys.*").each do |name|
        File.unlink(name)
        File.symlink(others_file, name)
      rescue SystemCallError
        nil
      end
    end
  }
  swaps.each do |what, swap|
    it "never writes into a file of somebody else while the user swaps #{what}" do
      parts = File.join(PuppetWorld::PROJECT, 'lib/puppet_x/simpkv/parts.rb')
      require parts
      keys = PuppetX::Simpkv.part(parts, 'authorized_keys_file').new(file, 'nobody', false)
      attack = -> { instance_exec(&swap) rescue Errno::ENOENT } # rubocop:disable Style/RescueModifier
      written = 0
      File.chmod(0o500, ssh) unless what.include?('file')
      during(attack) do
        500.times do
          restore if what.include?('file')
          keys.replace(content, content)
          written += 1
        rescue Puppet::Error => e
          expect(e.message).to match(/link|changed meanwhile|Replace|Create/)
        end
      end
      expect([written.positive?, File.read(others_file), permissions(others_file), Dir.children(others)])
        .to eq([true, content, [0, 0, 0o644], ['authorized_keys']])
    end
  end
end
