# frozen_string_literal: true

require_relative '../access/access_helper'
require_relative '../../../../spec/support/page_commands'
require_relative '../../../../spec/command/command_helper'

# Runs the commands of docs/backup.md: saves a store, loses it, and restores it.
RSpec.describe 'docs/backup.md' do
  include PageCommands

  # Compilers made new passwords in an empty directory, and the import refused to replace them.
  it 'stops puppetserver before there is an empty store, and starts it after the import' do
    steps = File.read(File.join(PageCommands::DOCS, 'backup.md'))[/^## Restore\n(.*?)^## /m, 1]
    found = ['systemctl stop puppetserver', 'simpkv init', 'simpkv import', 'Start puppetserver'].map do |step|
      steps.index(step)
    end
    expect(found).to eq(found.compact.sort)
  end

  shared_context 'with the page' do
    let(:site) { { 'backends' => { 'default' => backend.merge('encryption_keys' => keys), 'secrets' => secrets } } }
    let(:secrets) { { 'type' => 'file', 'id' => 'secrets', 'root_path' => File.join(folder, 'secrets') } }
    let(:config) { File.join(folder, 'simpkv.yaml').tap { |file| File.write(file, site.to_yaml) } }
    let(:keys) { File.join(folder, 'keys.jwks') }
    let(:log) { File.join(folder, 'audit.log') }
    let(:saved) { File.join(folder, 'backup') }

    before do
      Dir.mkdir(File.join(folder, 'keys'))
      write_programs
      simpkv!('keys', 'generate', keys)
      # As docs/encryption.md says.
      FileUtils.chmod(0o711, folder)
      FileUtils.chmod(0o640, keys)
      FileUtils.chown(nil, 'puppet', keys)
      fill
    end

    # Values of all kinds: with history, metadata and expiry, one that has expired, a Sensitive, bytes, a node.
    def fill
      simpkv!('init', '--only', 'estate')
      simpkv!('put', 'app1/kept', 'one', '--history', '3')
      simpkv!('put', 'app1/kept', 'two', '--history', '3')
      simpkv!('put', 'app1/described', 'x', '--metadata', '{"owner":"dba"}', '--expires-after', '90d')
      past = { 'SIMPKV_NOW' => '2026-01-01T00:00:00Z' }
      simpkv!('put', 'app1/expired', 'x', '--expires-after', '1h', environment: past)
      simpkv!('put', 'app1/secret', '--chomp', '--sensitive', '-', input: 'a b c')
      simpkv!('put', '-g', 'bytes', '--binary', '-', input: "\x00\xff")
      simpkv!('node', 'declare', 'web1', '--class', 'ntp')
      simpkv!('put', '-b', 'secrets', 'app1/other', 'of another backend')
      @before = everything
    end

    # @return [Array<String>] all documents, decrypted, by path; one of them is that of the declared node
    def everything
      simpkv!('export').lines.grep(/"path"/).sort
    end

    def write_programs
      @programs = File.join(folder, 'bin').tap { |name| Dir.mkdir(name) }
      File.write(File.join(@programs, 'simpkv'), Unbundled.program, perm: 0o755)
    end

    def program(name, text)
      File.write(File.join(@programs, name), "#!/bin/sh\n#{text}\n", perm: 0o755)
    end

    # @return [Hash{String => String}] the variables that name the place of a proof
    def place
      {}
    end

    # @return [Hash{String => String}] the variables that name the file of keys, and its copy
    def key_files
      { 'KEY_FILES' => keys, 'KEY_FILE' => File.join(folder, 'keys/keys.jwks') }
    end

    # Runs commands of the page, which must all succeed.
    #
    # @param script [String]
    # @return [String] the output
    def shell(script)
      script = script.gsub('/var/log/simpkv/audit.log', log)
      environment = { 'PATH' => "#{@programs}:#{ENV.fetch('PATH')}", 'SIMPKV_CONFIG' => config, 'BACKUP' => saved,
                      'BACKENDS' => 'default secrets', 'BACKEND' => 'default',
                      'KEYS' => File.join(folder, 'keys'), 'ID' => backend['id'], **key_files, **place }
      output, status = Open3.capture2e(environment, 'sh', '-euc', script, chdir: folder)
      raise output unless status.success?

      output
    end

    # @param heading [String]
    # @return [String] the output of the commands of a section
    def follow(heading)
      shell(commands('backup.md', heading))
    end

    def value(*arguments)
      simpkv!('get', *arguments).chomp
    end

    def expect_all_restored
      expect(everything).to eq(@before)
      expect(@before.grep(/Sensitive/).length).to eq(1)
      expect([value('app1/kept'), value('app1/kept', '--version', '-1')]).to eq(%w[two one])
      expect_expiry_restored
    end

    def expect_expiry_restored
      expect(JSON.parse(value('app1/described', '-o', 'json')))
        .to match(hash_including('metadata' => { 'owner' => 'dba' }, 'expires' => /\A20\d\d-/))
      expect([simpkv('get', 'app1/expired').code, value('app1/expired', '--expired')]).to eq([66, 'x'])
    end
  end

  # Loses all keys, and follows the page.
  shared_examples 'an export' do
    it 'restores all that an export has, which is encrypted and for its owner alone' do
      follow('Backup')
      file = File.join(saved, 'default.jsonl')
      expect(format('%o', File.stat(file).mode & 0o7777)).to eq('600')
      expect(File.read(file)).not_to match(/"(dba|ntp|a b c)\\?"/) # Base64 may have the letters alone
      lose
      FileUtils.rm_r(secrets['root_path'])
      said = follow('Restore')
      expect(said).to match(/^verified: +true$/).and match(/^ok +reading: /)
      expect_all_restored
      # An export saves one backend, and the page had one export.
      expect(value('-b', 'secrets', 'app1/other')).to eq('of another backend')
    end
  end

  describe 'with files' do
    include_context 'with the command'
    include_context 'with the page'

    let(:root) { File.join(folder, 'root') }
    let(:audit) { { 'to' => log, 'reads' => true } }
    let(:backend) { { 'type' => 'file', 'id' => 'site', 'root_path' => root, 'audit' => audit } }

    def lose
      FileUtils.rm_rf(root)
    end

    it_behaves_like 'an export'

    it 'proves a backup in another place, restores only missing keys, and tells what was written since' do
      follow('Backup')
      expect(follow('Proof of a store in files')).to match(/^verified: +true$/)
      expect(File.exist?(File.join(folder, 'proof'))).to be(false)
      simpkv!('rm', 'app1/secret')
      simpkv!('put', 'app1/described', 'newer')
      said = follow('Only some keys')
      expect(said).to match(/^stored: +1$/).and include("\tput\tapp1/described\t", "\tdelete\tapp1/secret\t")
      # The page listed reads as well.
      expect(File.read(log)).to match(/"operation":"(get|tree)"/)
      expect(said.scan(/^20\S+\t(\w+)/).flatten.uniq - %w[put put_many delete create_folder]).to eq([])
      expect([value('app1/secret'), value('app1/described')]).to eq(['a b c', 'newer'])
    end

    # The commands stopped at a file of keys that such a site does not have.
    describe 'without encryption' do
      let(:site) { { 'backends' => { 'default' => backend, 'secrets' => secrets } } }

      def key_files
        FileUtils.rm_f(keys)
        { 'KEY_FILES' => '', 'KEY_FILE' => '' }
      end

      it 'saves, proves and restores all' do
        follow('Backup')
        expect(follow('Proof of a store in files')).to match(/^verified: +true$.*^ok +reading: /m)
        lose
        FileUtils.rm_r(secrets['root_path'])
        follow('Restore')
        expect(everything).to eq(@before)
      end
    end

    it 'fails if a file of keys cannot be saved, after it has saved the data' do
      FileUtils.rm(keys)
      expect { follow('Backup') }.to raise_error(/keys\.jwks/)
      expect(Dir.children(saved)).to contain_exactly('default.jsonl', 'secrets.jsonl')
    end

    # It exited with 0, and nobody could decrypt the backup.
    it 'saves nothing if it does not know the files of keys' do
      define_singleton_method(:key_files) { { 'KEY_FILES' => nil } }
      expect { follow('Backup') }.to raise_error(/KEY_FILES: name the files of keys/)
      expect(File.exist?(saved)).to be(false)
    end

    # The second copy replaced the first one.
    it 'saves nothing if two files of keys have one name' do
      define_singleton_method(:key_files) { { 'KEY_FILES' => "#{keys} /etc/other/keys.jwks" } }
      expect { follow('Backup') }.to raise_error(/KEY_FILES has two files of one name: keys\.jwks/)
      expect(File.exist?(saved)).to be(false)
    end

    # The export exited with 0, and the import was verified.
    it 'has damaged documents as they are, and names them' do
      files = %w[app1/kept app1/secret].map { |key| File.join(root, 'environments/production', key) }
      File.binwrite(files.first, File.binread(files.first).reverse)
      File.binwrite(files.last, File.binread(files.last).sub(/\.(?=[^.]*\z)/, '.AAAA'))
      names = %w[app1/kept app1/secret].map { |key| "environments/production/#{key}" }
      exported = simpkv('export', '--raw')
      expect([exported.code, exported.err.scan(/'(\S+)': .*: it was exported as it is$/).flatten]).to eq([65, names])
      lose
      restored = simpkv('import', '--raw', input: exported.out)
      expect(restored).to have_attributes(code: 65, out: /^corrupt: +2$.*^verified: +true$/m)
      expect(restored.err.scan(/'(\S+)': .*: it is stored as it is$/).flatten).to eq(names)
    end

    # The import said `corrupt: 0`, which the page calls a part of the proof. Later, both exited with 0 although they
    # were told to decrypt.
    it 'gives no number of damaged documents without the keys of encrypted ones' do
      file = File.join(root, 'environments/production/app1/secret')
      File.binwrite(file, File.binread(file).sub(/.{4}(?=\.[^.]*\z)/, &:swapcase))
      FileUtils.rm(keys)
      exported = simpkv('export', '--raw')
      lose
      import = ->(*options) { simpkv('import', '--raw', '-o', 'json', *options, input: exported.out) }
      restored = [import['--dry-run'], import[]]
      site['backends']['default'] = backend
      File.write(config, site.to_yaml)
      restored << import[]
      exports = [exported, simpkv('export', '--raw')]
      # It has the marker of the estate, which nobody can read without keys.
      expect(exports.map(&:code)).to eq([78, 65])
      expect(exports.map(&:err)).to all(match(%r{^simpkv: 'globals/estate': it is not known whether}))
      # The order of keys is that of the files, and the first line has the time.
      expect(exports.map { |outcome| outcome.out.lines.grep(/"document"/).sort }.uniq).to match([be_any])
      expect([*exports, *restored].map(&:err)).to all(include('encrypted documents are not decrypted, so that nothing'))
      expect(restored.last.err).to include("they hold: it has no 'encryption_keys'")
      expect(restored.map { |outcome| [outcome.code, JSON.parse(outcome.out).fetch('corrupt')] })
        .to eq([[78, nil], [78, nil], [0, nil]])
      expect(JSON.parse(restored[1].out)).to include('verified' => true)
    end

    # It exited with 65, after which the page lets scripts continue.
    it 'exits with 78 without the file of keys even if a plain document is damaged' do
      file = File.join(root, 'environments/production/app1/kept')
      File.binwrite(file, '{"value":')
      FileUtils.rm(keys)
      exported = simpkv('export', '--raw')
      expect(exported).to have_attributes(code: 78, err: %r{app1/kept': .*: it was exported as it is$})
      lose
      restored = simpkv('import', '--raw', input: exported.out)
      expect(restored).to have_attributes(code: 78, err: %r{app1/kept': .*: it is stored as it is$})
    end

    it 'can be a copy of the files' do
      shell('cp -a root copy')
      lose
      shell('mv copy root')
      expect_all_restored
    end
  end

  { 'OpenLDAP' => [AccessServers::Slapd, "With OpenLDAP's own tools", {}, {}],
    '389 Directory Server' => [Ds389, 'With the tools of 389 Directory Server', { user: 'dirsrv' },
                               { ds389: true }] }.each do |name, (server, saving, options, tags)|
    describe "with #{name}", **tags do
      include_context 'with the command'
      include_context 'with a directory', server, **options
      include_context 'with the page'

      let(:backend) { directory.options('type' => 'ldap', 'id' => id) }
      let(:home) { File.dirname(directory.password_file) }

      # The tools, for a server in a folder of its own.
      before do
        %w[slapcat slapadd].each { |tool| program(tool, "exec /usr/sbin/#{tool} -F #{home}/slapd.d \"$@\"") }
        program('systemctl', "[ $1 = start ] && touch #{home}/started")
        program('dsctl', <<~SHELL)
          tool() { name=$1; shift; #{Ds389::PROGRAM} "$name" -D #{home} "$@"; }
          action=$2; shift 2
          case $action,${1-} in
            db2ldif,--replication) tool db2ldif -r -n "$2" -a "$3" ;;
            ldif2db,*) tool ldif2db -n "$1" -i "$2" || [ $? = 8 ] ;; # 8: "successful with skipped entries"
            db2bak,*) tool db2archive -a "#{home}/bak/$1" ;;
            bak2db,*) tool archive2db -a "#{home}/bak/$1" ;;
            start,) touch #{home}/started ;;
            *) exit 64 ;;
          esac
        SHELL
      end

      def lose
        %w[globals environments].each { |root| directory.delete_tree(dn(root, :folder)) }
      end

      # Runs commands, which may stop the server. It is started only if they start it.
      def with_server(heading)
        script = commands('backup.md', heading)
        started = File.join(home, 'started')
        FileUtils.rm_f(started)
        stop = script.gsub!(/^ *(systemctl|dsctl INSTANCE) stop\b.*\n/, '')
        directory.stop_serving if stop
        shell(script.gsub('/var/lib/ldap', "#{home}/data").gsub('/etc/ldap', home)
                    .gsub('/var/lib/dirsrv/slapd-INSTANCE', home))
      ensure
        directory.launch if stop && File.exist?(started)
      end

      # An editor's newline, with which ldapdelete failed.
      def password
        File.join(folder, 'password').tap { |file| File.write(file, "#{DirectoryServer::PASSWORD}\n", perm: 0o600) }
      end

      def place
        { 'URI' => directory.uri, 'BASE' => "ou=proof,#{backend['base_dn']}", 'ADMIN' => backend['admin_dn'],
          'PASSWORD' => password, 'LAYOUT' => directory.layout }
      end

      it_behaves_like 'an export'

      # The only proof of the page was one in files, which refuse the export of a directory.
      it 'proves a backup in another part, of which nothing stays' do
        follow('Backup')
        said = follow('Proof of a store in a directory')
        expect(said).to match(/^corrupt: +0$.*^verified: +true$.*^ok +reading: /m)
        expect(directory.search(backend['base_dn'], '(ou=proof)')).to be_empty
        expect(Dir[File.join(folder, 'proof*')]).to eq([])
        expect(everything).to eq(@before)
      end

      it 'restores all that the own tools of the server have saved' do
        Dir.mkdir(saved, 0o700)
        with_server(saving)
        # Everybody could read those of OpenLDAP.
        expect(Dir[File.join(saved, '*')].map { |file| format('%o', File.stat(file).mode & 0o777) }.uniq).to eq(['600'])
        lose
        with_server("Restore of #{name}")
        expect_all_restored
        # The files of slapd.d stayed root's, so that slapd did not start as openldap.
        owners = Dir[File.join(home, '{slapd.d,ldif}/**/*')].map { |file| Etc.getpwuid(File.stat(file).uid).name }
        expect(owners.uniq - [options[:user] || 'openldap']).to eq([])
      end

      # The server was started with an empty database if it could not read the file, and dsctl had exited with 0.
      if server == Ds389
        it 'stays down after a restore without entries, and takes the old database back' do
          Dir.mkdir(saved, 0o700)
          with_server(saving)
          program('install', "exec /usr/bin/install -m 600 #{saved}/data.ldif #{home}/ldif/restore.ldif")
          expect { with_server("Restore of #{name}") }.to raise_error(RuntimeError)
          expect(File.exist?(File.join(home, 'started'))).to be(false)
          shell('dsctl INSTANCE bak2db before-restore')
          directory.launch
          expect(everything).to eq(@before)
        end
      end
    end
  end
end
