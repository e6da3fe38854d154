# frozen_string_literal: true

require_relative '../support/command'
require_relative '../support/ds389'
require_relative '../support/processes'
require_relative '../support/slapd'
require 'simpkv/cli'

# What `simpkv doctor` finds, and says to do about it.
RSpec.describe 'simpkv doctor' do
  include_context 'with the command'

  # @param user [String] who else must be able to use the backend; for root nothing is checked
  # @return [Array<Hash>] its findings that are not ok
  def findings(*arguments, user: 'root')
    outcome = simpkv('doctor', '-o', 'json', '--user', user, *arguments)
    all = JSON.parse(outcome.out)
    code = all.any? { |finding| finding['state'] == 'problem' } ? 69 : 0
    expect(outcome).to have_attributes(err: '', code: code)
    expect(outcome.out).not_to include(DirectoryServer::PASSWORD)
    all.reject { |finding| finding['state'] == 'ok' }
  end

  def problem(what, why, fix)
    include('state' => 'problem', 'what' => what, 'why' => a_string_matching(why), 'fix' => a_string_matching(fix))
  end

  def warning(what, why, fix)
    include('state' => 'warning', 'what' => what, 'why' => a_string_matching(why), 'fix' => a_string_matching(fix))
  end

  context 'with files' do
    let(:root) { File.join(folder, 'keys') }

    it 'finds nothing wrong with a folder that was made for keys' do
      simpkv!('init')
      expect(findings).to eq([])
      expect(Dir.children(File.join(root, 'globals'))).to eq([])
    end

    it 'finds that there is none' do
      expect(findings).to contain_exactly(problem('folder', /#{root} is not there/, /simpkv init/))
    end

    it 'finds that others can read it' do
      simpkv!('init')
      File.chmod(0o755, root)
      expect(findings).to contain_exactly(warning('rights', /open to every local user \(mode 0755\)/, /chmod o-rwx/))
    end

    it 'refuses a user that there is not' do
      expect(simpkv('doctor', '--user', 'nosuch').to_a).to eq(['', "simpkv: there is no user 'nosuch'\n", 64])
    end

    # It said so twice.
    it 'finds once what is wrong with the options of the backend' do
      backends['default']['id'] = 'a/b'
      expect(findings).to contain_exactly(problem('configuration', /'id' of simpkv backend/, /correct/))
    end

    it 'finds an option that there is not' do
      backends['default']['rot_path'] = '/x'
      simpkv('init')
      expect(simpkv('doctor').err).to include("Unknown option 'rot_path'", "did you mean 'root_path'")
    end

    it 'finds what is wrong with the options of any backend' do
      simpkv!('init')
      backends['other'] = { 'type' => 'ldap', 'id' => 'x', 'page_size' => 'pl4nted-' }
      File.write(config, { 'backends' => backends }.to_yaml)
      expect(findings).to contain_exactly(problem("options of backend 'other'", /'page_size' .* must be/,
                                                  /simpkv.yaml/))
    end

    it 'names what another doctor has left, and deletes nothing' do
      simpkv!('-g', 'put', 'simpkv-doctor-0123abcd/k', 'x')
      simpkv!('-g', 'put', 'simpkv-doctor-notes/k', 'x')
      expect(findings).to contain_exactly(warning('leftovers', /0123abcd/, /simpkv rm -gr simpkv-doctor-0123abcd/))
      expect(simpkv!('-g', 'get', 'simpkv-doctor-0123abcd/k')).to eq('x')
    end

    it 'looks at one backend of a configuration that functions would refuse' do
      backends['move'] = backends.delete('default')
      expect(simpkv('init', '-b', 'move').code).to eq(0)
      expect(findings('-b',
                      'move')).to contain_exactly(warning('configuration', /functions would refuse it/, /functions/))
    end

    it 'needs no home' do
      simpkv!('init')
      expect(simpkv('doctor', environment: { 'HOME' => nil }).code).to eq(0)
    end

    it 'names files that no key can be called' do
      simpkv!('init')
      File.write(File.join(root, 'globals', "lat\xE9".b), '{"value":1}')
      expect(findings).to contain_exactly(
        problem("key 'globals/lat\\xE9'", /no key can be called that/, /delete it: by hand/),
        problem('reading', /1 of 1 key cannot be read/, /delete/)
      )
    end

    # Nothing was said of them.
    it 'names keys whose documents are empty or corrupt, without a word of them, and how to delete them' do
      %w[good app1/cut].each { |key| simpkv!('put', key, 'pl4nted') }
      simpkv!('put', '-g', 'empty', 'x')
      File.write(File.join(root, 'globals/empty'), '')
      File.write(File.join(root, 'environments/production/app1/cut'), '{"value":"pl4nted')
      found = findings
      expect(found).to contain_exactly(
        problem("key 'globals/empty'", /empty/, /simpkv rm -g empty, or by hand$/),
        problem("key 'environments/production/app1/cut'", /corrupt \(17 bytes\)/,
                %r{simpkv rm -e production app1/cut,}),
        problem('reading', /2 of 3 keys cannot be read/, /mend/)
      )
      expect(found.to_s).not_to include('pl4nted')
      found.first(2).each { |finding| simpkv!(*finding['fix'][/simpkv (rm .*), or by hand/, 1].split) }
      expect(findings).to eq([])
    end

    it 'names ten of many keys that cannot be read, and counts them all' do
      simpkv!('init')
      12.times { |number| File.write(File.join(root, 'globals', "k#{number}"), '') }
      found = findings
      expect(found.length).to eq(11)
      expect(found.last)
        .to problem('reading', /12 of 12 keys cannot be read, of which 10 of each kind are named/, /mend/)
    end

    # It said 'ok folder', and below that 'PROBLEM folder'.
    it 'does not call a folder well that cannot be used' do
      simpkv!('init')
      FileUtils.rm_r(File.join(root, 'globals'))
      File.write(File.join(root, 'globals'), '')
      outcome = simpkv('doctor')
      expect(outcome.out).to match(/^PROBLEM +(folder|reading)/)
      expect(outcome.out.lines.grep(/folder:/).length).to eq(1)
    end

    # It said: run as the user whose keys these are.
    it 'says what to do about a file system that is mounted read-only' do
      simpkv!('put', 'a', 'x')
      read_only(root) do
        expect(findings).to contain_exactly(problem('writing', /Read-only file system/, /mount .*#{root} for writing/))
        expect(findings('--read-only').map { |finding| finding['state'] }).to eq(['unknown'])
      end
    end

    # Mounts the folder on itself, read-only.
    def read_only(folder)
      system('mount', '--bind', folder, folder, exception: true)
      system('mount', '-o', 'remount,bind,ro', folder, exception: true)
      yield
    ensure
      system('umount', folder)
    end

    it 'stores nothing with --read-only' do
      simpkv!('init')
      before = File.stat(File.join(root, 'globals')).mtime
      expect(findings('--read-only').map { |finding| finding['state'] }).to eq(['unknown'])
      expect(File.stat(File.join(root, 'globals')).mtime).to eq(before)
    end
  end

  [[Slapd, 'OpenLDAP'], [Ds389, '389-DS']].each do |type, name|
    context "with #{name}" do
      # @param options [Hash] of the server
      # @yield while it runs
      def at(type, **options)
        options[:more] = "database config\nrootdn \"#{Slapd::ROOT_DN}\"" if type == Slapd
        type.run(layout: 'plain', limits: true, **options) do |server|
          backends['default'] = { 'type' => 'ldap' }.merge(server.options)
          yield server
        end
      end

      def also(options)
        backends['default'].merge!(options)
      end

      # Has the server refer each change to its supplier.
      def refer(server, supplier)
        server.modify(server.is_a?(Slapd) ? <<~SLAPD : <<~DS389)
          dn: olcDatabase={1}mdb,cn=config
          changetype: modify
          add: olcSyncrepl
          olcSyncrepl: rid=1 provider=ldap://127.0.0.1:1 searchbase="dc=simp" bindmethod=simple retry="3600 +"
          -
          add: olcUpdateRef
          olcUpdateRef: #{supplier}
        SLAPD
          dn: cn="dc=simp",cn=mapping tree,cn=config
          changetype: modify
          replace: nsslapd-referral
          nsslapd-referral: #{supplier}/dc%3Dsimp
          -
          replace: nsslapd-state
          nsslapd-state: referral on update
        DS389
        server.restart if server.is_a?(Ds389)
      end

      # Lets clients read that have not bound.
      def allow_anybody(server, attributes: %w[*])
        if server.is_a?(Slapd)
          attributes = attributes.first == '*' ? '' : " attrs=entry,children,#{attributes.join(',')}"
          server.modify("dn: olcDatabase={1}mdb,cn=config\nchangetype: modify\nadd: olcAccess\nolcAccess: {0}to " \
                        "dn.subtree=#{DirectoryServer::BASE_DN}#{attributes} by anonymous read by * break\n")
        else
          server.modify("dn: #{DirectoryServer::BASE_DN}\nchangetype: modify\nadd: aci\naci: (targetattr=\"" \
                        "#{attributes.join(' || ')}\")(version 3.0; acl \"anybody\"; allow (read, search) " \
                        "userdn=\"ldap:///anyone\";)\n")
        end
      end

      it 'finds that there is no server' do
        at(type) do
          also('ldap_uri' => 'ldap://127.0.0.1:1')
          expect(findings).to contain_exactly(problem('connecting', /refused/i, /start the server.*ldapsearch/))
        end
      end

      # It said to give the identity rights, with an ldapsearch that asked the other server.
      it 'finds that the server for writes does not answer' do
        at(type) do
          also('write_uri' => 'ldap://127.0.0.1:1')
          unknown = include('state' => 'unknown', 'what' => 'rights and limits', 'why' => /no server of 'write_uri'/)
          expect(findings).to contain_exactly(
            problem('connecting', /refused/i, %r{correct 'write_uri'; .*-H ldap://127\.0\.0\.1:1 }), unknown,
            warning('encryption', %r{ldap://127\.0\.0\.1:1: .*in the clear}, /enable_tls/)
          )
        end
      end

      # It said to change the rights of the folder.
      it 'finds that the file of the password is a folder' do
        at(type) do |server|
          also('admin_pw_file' => server.folder)
          expect(findings).to contain_exactly(problem('configuration', /#{server.folder} is a folder/, /correct the/))
        end
      end

      it 'finds a wrong password, without showing it' do
        at(type) do |server|
          also('admin_pw_file' => server.wrong_password_file)
          expect(findings).to contain_exactly(problem('connecting', /credentials/i, /admin_pw_file/))
        end
      end

      it 'finds that there is no schema, and init loads it' do
        at(type, layout: nil, limits: false) do
          also('layout' => 'plain')
          expect(findings).to include(problem('schema', /no simpkvKey, simpkvJsonValue, simpkvEntry/, /simpkv init/))
        end
      end

      it 'finds that there is no base entry' do
        at(type) do
          also('base_dn' => 'ou=elsewhere,dc=simp')
          expect(findings).to contain_exactly(problem('base entry', /no (such )?entry/, /simpkv init --only base --as/))
        end
      end

      # It said to start the server, or to correct 'ldap_uri'.
      it 'finds that there is no base entry where the identity may see what is above it' do
        at(type) do
          also('base_dn' => "ou=elsewhere,#{DirectoryServer::BASE_DN}")
          expect(findings).to contain_exactly(problem('base entry', /no (such )?entry/, /simpkv init --only base --as/))
        end
      end

      # It said that 'simpkv init' makes it.
      it 'finds that the base DN lies in no suffix of the server' do
        at(type) do
          also('base_dn' => 'ou=simpkv,dc=other')
          expect(findings).to contain_exactly(problem('base entry', /no (such )?entry/,
                                                      /correct 'base_dn': the server holds dc=simp only/))
        end
      end

      it 'finds that the server carries the schema of the other layout' do
        at(type, layout: 'hex') do
          also('layout' => 'plain')
          expect(findings).to contain_exactly(problem('schema', /no simpkvKey/, /set 'layout: hex'/))
        end
      end

      it 'finds that there are no rights' do
        at(type, access: 'read') do
          # It named the rules for slapd.conf alone, which a server with cn=config cannot load.
          form = type == Slapd ? /--form access \(slapd.conf\), or .* --form config \(cn=config/ : /--form access$/
          expect(findings.last).to problem('rights', /access/i, /let cn=simpkv,dc=simp write below.* #{form}/)
        end
      end

      # It asked for rights.
      it 'finds that the server is a replica, and names its supplier' do
        at(type) do |server|
          refer(server, 'ldap://supplier.example.com:1389')
          expect(findings.last).to problem('rights', /refers to/,
                                           %r{set 'write_uri' .* 'default': ldap://supplier.example.com:1389,})
        end
      end

      # Nothing was said of it.
      it 'finds that anybody may read keys, whether or not there are keys yet' do
        at(type) do |server|
          allow_anybody(server)
          expected = problem('anonymous access', %r{may read keys, such as 'globals/simpkv-doctor-\w+/key'},
                             /rule|ACI/)
          expect(findings('--list-size', '1')).to contain_exactly(expected)
          simpkv!('put', 'app1/token', 'x')
          expect(findings('--read-only'))
            .to include(problem('anonymous access', %r{'environments/production/app1/token'}, /rule|ACI/))
        end
      end

      it 'finds that anybody may see the names of keys' do
        at(type) do |server|
          simpkv!('put', 'app1/token', 'x')
          allow_anybody(server, attributes: %w[objectClass ou simpkvKey])
          expect(findings('--read-only')).to include(problem('anonymous access', %r{see the names .*app1/token'}, /./))
        end
      end

      it 'finds that the certificate has expired' do
        authority = Certificates.new(folder)
        at(type, tls: authority.issue(days: -1), authority: authority) do |server|
          also('ldap_uri' => server.tls_uri, 'tls_cacert' => authority.cacert)
          expect(findings).to contain_exactly(problem('connecting', /expired on \d{4}-\d\d-\d\d/, /certificate/))
        end
      end

      it 'finds that the certificate ends soon' do
        at(type, tls: true) do |server|
          also('ldap_uri' => server.tls_uri, 'tls_cacert' => server.certificates.cacert)
          expect(findings('--list-size',
                          '1')).to include(warning('encryption', /TLS.*the certificate ends on/, /renew/))
        end
      end

      it 'finds that nothing is encrypted' do
        at(type) do |server|
          also('ldap_uri' => server.tcp_uri)
          expect(findings('--list-size', '1')).to include(warning('encryption', /in the clear/, %r{ldaps://}))
        end
      end

      it 'finds that every local user can read the password' do
        at(type) do |server|
          File.chmod(0o644, server.password_file)
          expect(findings('--list-size', '1')).to include(warning('file', /#{server.password_file}/, /chmod/))
        end
      end

      # The file is root's: everything worked for root, and nothing for puppetserver.
      it 'finds that the user of puppetserver cannot read the password, and how to mend that' do
        at(type) do |server|
          2.times do |number|
            closed = [server.folder, server.password_file][number]
            found = findings('--list-size', '1', user: 'nobody')
            expect(found).to contain_exactly(warning('file', /#{server.password_file} cannot be read by .* nobody/,
                                                     /chgrp nogroup #{closed} && chmod/))
            system(found.first['fix'][/chgrp .*/], exception: true)
          end
          expect(findings('--list-size', '1', user: 'nobody')).to eq([])
        end
      end

      # It said 'chmod o=', which shut puppetserver out.
      it 'closes a password file to others so that the user of puppetserver can still read it' do
        at(type) do |server|
          File.chmod(0o711, server.folder)
          File.chmod(0o644, server.password_file)
          found = findings('--list-size', '1', user: 'nobody')
          expect(found).to contain_exactly(warning('file', /open to every local user/, /chgrp nogroup/))
          system(found.first['fix'], exception: true)
          expect(findings('--list-size', '1', user: 'nobody')).to eq([])
        end
      end

      it 'finds a limit that would cut lists' do
        at(type, limits: false) do
          expect(findings.last).to problem('limits', /limit/, /simpkv schema --server \w+ --form limits/)
        end
      end
    end
  end

  # They were 'unknown' to an identity that may see an index, and the advice for one that may not was a file's name.
  describe 'the indexes of 389-DS' do
    def index_findings(server, more = {})
      backends['default'] = { 'type' => 'ldap' }.merge(server.options(more))
      File.write(config, { 'backends' => backends }.to_yaml)
      findings('--read-only').select { |finding| finding['what'] == 'indexes' }
    end

    %w[plain hex].each do |layout|
      it "are found as far as the identity may see them, layout #{layout}" do
        Ds389.run(layout: layout) do |server|
          as_root = { 'admin_dn' => Ds389::ROOT_DN }
          expect([{}, as_root].map { |more| index_findings(server, more) })
            .to all(match([warning('indexes', /none for simpkv/, /schema --server 389ds --form limits( |$)/)]))
          *indexes, access = Ds389.limits(layout).split(/^(?=dn: cn=config$)/)
          server.modify(indexes.join)
          hidden = include('state' => 'unknown', 'why' => /may not look at them/,
                           'fix' => /ldapsearch .* 'cn=index,cn=userRoot.*--form limits/)
          expect([{}, as_root].map { |more| index_findings(server, more) }).to match([[hidden], []])
          server.modify(access)
          expect(index_findings(server)).to eq([])
        end
      end
    end

    it 'are unknown to an identity that cannot see the name of the database' do
      stub_const('Ds389::BACKEND', 'site')
      Ds389.run do |server|
        expect(index_findings(server)).to match([include('state' => 'unknown')])
        expect(index_findings(server, 'admin_dn' => Ds389::ROOT_DN))
          .to match([warning('indexes', /none for simpkvKey/, /--form limits --database site$/)])
      end
    end
  end

  describe 'of a user who cannot read the password file', needs: :fork do
    include Processes

    # It said: correct 'admin_dn', or the password.
    it 'says so, and whom to let read it' do
      Slapd.run(layout: 'plain') do |server|
        backends['default'] = { 'type' => 'ldap' }.merge(server.options)
        output = File.join(folder, 'output')
        [folder, server.folder].each { |each| File.chmod(0o711, each) }
        [config, output].each { |file| File.write(file, File.exist?(file) ? File.read(file) : '') }
        File.chmod(0o666, output)
        File.chmod(0o644, config)
        Simpkv::Cli::Commands['doctor']
        require 'simpkv/cli/directory_examination'
        as_nobody do
          $stdout.reopen(output)
          Simpkv::Cli.run(['doctor', '-c', config]) == 69
        end
        expect(File.read(output)).to match(/^PROBLEM +configuration: .*#{server.password_file} cannot be read by/)
          .and match(/-> let that user read it/)
      end
    end
  end
end
