# frozen_string_literal: true

require_relative 'doctor_helper'
require_relative '../support/processes'

RSpec.describe 'simpkv doctor' do
  include_context 'with doctor'

  [[Slapd, 'OpenLDAP'], [Ds389, '389-DS']].each do |type, name|
    context "with #{name}" do
      # The server of the examples that leave its settings alone.
      before(:context) do
        @shared = type.new(limits: true)
        @shared.start
      end

      after do
        [@shared.folder, @shared.password_file].zip([0o700, 0o600]) do |file, mode|
          File.chown(Process.euid, Process.egid, file)
          File.chmod(mode, file)
        end
      end

      after(:context) { @shared&.stop }

      # @param options [Hash] of a server for this example alone; without any, the shared server
      # @yieldparam server [DirectoryServer] that runs
      def at(type, **options)
        use = lambda do |server|
          backends['default'] = { 'type' => 'ldap' }.merge(server.options)
          yield server
        end
        return use.call(@shared) if options.empty?

        options[:more] = "database config\nrootdn \"#{Slapd::ROOT_DN}\"" if type == Slapd
        type.run(limits: true, **options, &use)
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

      # Lets anonymous clients read.
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

      it 'finds a missing server' do
        at(type) do
          also('ldap_uri' => 'ldap://127.0.0.1:1')
          expect(findings).to contain_exactly(problem('connecting', /refused/i, /\Astart the server.*ldapsearch/))
        end
      end

      # The remedy was about rights, with an ldapsearch of the other server. Then it was to start the server, which can
      # delete keys that only a killed one has.
      it 'finds a server for writes that does not answer' do
        at(type) do
          also('write_uri' => 'ldap://127.0.0.1:1')
          unknown = include('state' => 'unknown', 'what' => 'rights and limits', 'why' => /no server of 'write_uri'/)
          expect(findings).to contain_exactly(
            problem('connecting', /refused/i, %r{\Aif .* killed.* 'write_uri'; .*-H ldap://127\.0\.0\.1:1 }), unknown,
            warning('encryption', %r{ldap://127\.0\.0\.1:1: .*in the clear}, /enable_tls/)
          )
        end
      end

      # The remedy was about the rights of the folder.
      it 'finds a folder in place of the password file' do
        at(type) do |server|
          also('admin_pw_file' => server.folder)
          expect(findings).to contain_exactly(problem('configuration', /#{server.folder} is a folder/, /correct 'adm/))
        end
      end

      it 'finds a wrong password and does not print it' do
        at(type) do |server|
          also('admin_pw_file' => server.wrong_password_file)
          expect(findings).to contain_exactly(problem('connecting', /credentials/i, /admin_pw_file/))
        end
      end

      # The remedy was to check TLS.
      it 'finds a locked account', if: type == Ds389 do
        at(type) do |server|
          locked = 'cn=locked,dc=simp'
          server.modify("dn: #{locked}\nchangetype: add\nobjectClass: organizationalRole\n" \
                        "objectClass: simpleSecurityObject\nuserPassword: #{DirectoryServer::PASSWORD}\n" \
                        "nsAccountLock: true\n")
          also('admin_dn' => locked)
          expect(findings).to contain_exactly(problem('connecting', /account locked/, /unlock the account/))
        end
      end

      # The remedy was to correct 'tls_cacert': the text of the error, "give it a certificate", decided.
      it 'finds a server without StartTLS' do
        at(type) do |server|
          also('ldap_uri' => server.tcp_uri, 'enable_tls' => true, 'tls_cacert' => Certificates.new(folder).cacert)
          expect(findings).to contain_exactly(problem('connecting', /refuses StartTLS/, /check that .* speaks TLS/))
        end
      end

      it 'finds a missing schema' do
        at(type, layout: nil, limits: false) do
          also('layout' => 'plain')
          expect(findings).to include(problem('schema', /no simpkvKey, simpkvJsonValue, simpkvEntry/, /simpkv init/))
        end
      end

      it 'finds a missing base entry' do
        at(type) do
          also('base_dn' => 'ou=elsewhere,dc=simp')
          expect(findings).to contain_exactly(problem('base entry', /no (such )?entry/, /simpkv init --only base --as/))
        end
      end

      # The remedy was to start the server, or to correct 'ldap_uri'.
      it 'finds a missing base entry if the identity can see the entry above it' do
        at(type) do
          also('base_dn' => "ou=elsewhere,#{DirectoryServer::BASE_DN}")
          expect(findings).to contain_exactly(problem('base entry', /no (such )?entry/, /simpkv init --only base --as/))
        end
      end

      # The remedy was 'simpkv init'.
      it 'finds a base DN outside the suffixes of the server' do
        at(type) do
          also('base_dn' => 'ou=simpkv,dc=other')
          expect(findings).to contain_exactly(problem('base entry', /no (such )?entry/,
                                                      /correct 'base_dn': the server holds dc=simp only/))
        end
      end

      it 'finds the schema of the other layout' do
        at(type, layout: 'hex') do
          also('layout' => 'plain')
          expect(findings).to contain_exactly(problem('schema', /no simpkvKey/, /set 'layout: hex'/))
        end
      end

      it 'finds missing rights' do
        at(type, access: 'read') do
          # The remedy was the form for slapd.conf only, which a server with cn=config cannot load; then one with
          # `ldapmodify -c`, which takes rules twice.
          for_config = %r{--form access \(slapd.conf\), or .* --form config --missing-from ldapi:/// \(cn=config}
          form = type == Slapd ? for_config : /--form access$/
          expect(findings.last).to problem('rights', /access/i, /let cn=simpkv,dc=simp write below.* #{form}/)
        end
      end

      # The remedy was about rights.
      it 'finds a replica, and names its supplier without the advice to trust it' do
        at(type, layout: 'plain') do |server|
          refer(server, 'ldap://supplier.example.com:1389')
          expect(findings.last).to problem('rights', /refers to/,
                                           %r{\Aif ldap://supplier.example.com:1389 is a server of .*'write_uri'})
        end
      end

      # Doctor did not report it.
      it 'finds that anonymous clients can read keys, with and without stored keys' do
        at(type, layout: 'plain') do |server|
          allow_anybody(server)
          expected = problem('anonymous access', %r{may read keys, such as 'globals/simpkv-doctor-\w+/key'},
                             /rule|ACI/)
          expect(findings('--list-size', '1')).to contain_exactly(expected)
          simpkv!('put', 'app1/token', 'x')
          expect(findings('--read-only'))
            .to include(problem('anonymous access', %r{'environments/production/app1/token'}, /rule|ACI/))
        end
      end

      it 'finds that anonymous clients can see the names of keys' do
        at(type, layout: 'plain') do |server|
          simpkv!('put', 'app1/token', 'x')
          allow_anybody(server, attributes: %w[objectClass ou simpkvKey])
          expect(findings('--read-only')).to include(problem('anonymous access', %r{see the names .*app1/token'}, /./))
        end
      end

      it 'finds an expired certificate' do
        authority = Certificates.new(folder)
        at(type, tls: authority.issue(days: -1), authority: authority) do |server|
          also('ldap_uri' => server.tls_uri, 'tls_cacert' => authority.cacert)
          expect(findings).to contain_exactly(
            problem('connecting', /expired on \d{4}-\d\d-\d\d/, /\Arenew the server's certificate\z/)
          )
        end
      end

      # The remedy was to correct 'tls_cacert'.
      it 'finds a certificate for another host name' do
        authority = Certificates.new(folder)
        at(type, tls: authority.issue('127.0.0.2'), authority: authority) do |server|
          also('ldap_uri' => server.tls_uri, 'tls_cacert' => authority.cacert)
          expect(findings).to contain_exactly(
            problem('connecting', /for another host name/, /name of the certificate into 'ldap_uri'(?!.*tls_cacert)/)
          )
        end
      end

      it 'finds a certificate of an unknown CA' do
        at(type, tls: true) do |server|
          also('ldap_uri' => server.tls_uri, 'tls_cacert' => Certificates.new(folder).cacert)
          expect(findings).to contain_exactly(problem('connecting', /not signed by a CA/, /correct 'tls_cacert'/))
        end
      end

      # The password was said to be sent in the clear.
      %w[ldap ldaps].each do |scheme|
        it "says that the encryption of a server that does not answer is unknown (#{scheme}, enable_tls)" do
          at(type, tls: true) do |server|
            also('ldap_uri' => server.tls_uri, 'write_uri' => "#{scheme}://127.0.0.1:1", 'enable_tls' => true,
                 'tls_cacert' => server.certificates.cacert)
            unknown = include('state' => 'unknown', 'what' => 'encryption', 'why' => %r{#{scheme}://.*no connection})
            expect(findings.select { |finding| finding['why'].include?(':1:') }).to contain_exactly(
              problem('connecting', /refused/i, /start the server/), unknown
            )
          end
        end
      end

      it 'finds a certificate that expires soon' do
        at(type, tls: true) do |server|
          # Nothing was found in this spelling, nor without a port.
          also('ldap_uri' => "#{server.tls_uri.upcase}/", 'tls_cacert' => server.certificates.cacert)
          expect(findings('--list-size',
                          '1')).to include(warning('encryption', /TLS.*the certificate ends on/, /renew/))
        end
      end

      it 'finds a connection without encryption' do
        at(type) do |server|
          also('ldap_uri' => server.tcp_uri.upcase)
          expect(findings('--list-size', '1')).to include(warning('encryption', /in the clear/, %r{ldaps://}))
        end
      end

      it 'finds a world-readable password file' do
        at(type) do |server|
          File.chmod(0o644, server.password_file)
          expect(findings('--list-size', '1')).to include(warning('file', /#{server.password_file}/, /chmod/))
        end
      end

      # The file belongs to root. Everything worked for root, and nothing for puppetserver.
      it 'finds a password file that the user of puppetserver cannot read, and its remedy works' do
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

      # The remedy was 'chmod o=', which locked puppetserver out.
      it 'closes a world-readable password file and leaves it readable for the user of puppetserver' do
        at(type) do |server|
          File.chmod(0o711, server.folder)
          File.chmod(0o644, server.password_file)
          found = findings('--list-size', '1', user: 'nobody')
          expect(found).to contain_exactly(warning('file', /open to every local user/, /chgrp nogroup/))
          system(found.first['fix'], exception: true)
          expect(findings('--list-size', '1', user: 'nobody')).to eq([])
        end
      end

      # 389-DS makes a list that is long enough in ten seconds.
      it 'finds a limit that truncates lists', long: type == Ds389 do
        at(type, limits: false) do
          expect(findings.last).to problem('limits', /limit/, /simpkv schema --server \w+ --form limits/)
        end
      end
    end
  end

  # They were 'unknown' to an identity that can see an index. The remedy for another identity was the name of a file.
  describe 'the indexes of 389-DS' do
    def index_findings(server, more = {})
      backends['default'] = { 'type' => 'ldap' }.merge(server.options(more))
      File.write(config, { 'backends' => backends }.to_yaml)
      findings('--read-only').select { |finding| finding['what'] == 'indexes' }
    end

    %w[plain hex].each do |layout|
      it "are found if the identity can see them, layout #{layout}" do
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

    it 'are unknown if the identity cannot see the name of the database' do
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

    # The remedy was to correct 'admin_dn', or the password.
    it 'names the file and the remedy' do
      Slapd.run(layout: 'plain') do |server|
        backends['default'] = { 'type' => 'ldap' }.merge(server.options)
        output = File.join(folder, 'output')
        [folder, server.folder].each { |each| File.chmod(0o711, each) }
        [config, output].each { |file| File.write(file, File.exist?(file) ? File.read(file) : '') }
        File.chmod(0o666, output)
        File.chmod(0o644, config)
        Simpkv::Cli::Commands['doctor']
        require 'simpkv/cli/doctor/directory_examination'
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
