# frozen_string_literal: true

require_relative '../puppet_helper'
require_relative '../support/ldap_store'

# Tests the messages that an operator reads when simpkv cannot access its keys.
Directories.each_server do |server, tags|
  RSpec.describe "The LDAP plugin, when it is configured, #{server}", :once, **tags do
    include_context 'with a directory', server, tls: true

    let!(:world) { PuppetWorld.new }
    let(:plugin) { world.adapter.plugin_info['ldap'][:class].new('ldap/x') }

    after { world.close }

    def configure(more = {})
      backend = directory.options('type' => 'ldap', 'id' => id).merge(more)
      plugin.configure('backend' => 'b', 'backends' => { 'b' => backend })
    end

    # Runs the command at the end of the message in a shell. Returns its exit status.
    def reproduced(message)
      command = message[/To ask outside of Puppet: (.*ldapsearch .*)\z/, 1]
      system('sh', '-c', command, %i[out err] => File::NULL)
      $CHILD_STATUS.exitstatus
    end

    def fails(more, *fragments)
      message = failing(configure(more), *fragments)
      expect(message).to start_with("Plugin could not access #{more.fetch('base_dn', DirectoryServer::BASE_DN)}: ")
      message
    end

    # The same for a base entry that is hidden or missing: the identity of a role does not need to see it.
    def fails_later(more, *fragments)
      expect(configure(more)).to eq(result: true, err_msg: nil)
      base_dn = more.fetch('base_dn', DirectoryServer::BASE_DN)
      failing(plugin.get('globals/k'), /\APlugin could not access #{base_dn}: .*correct 'base_dn' \(#{base_dn}\)/,
              *fragments)
    end

    def failing(answer, *fragments)
      expect(answer[:result]).to be(false).or be_nil
      message = answer[:err_msg]
      expect(message).not_to include("\n")
      expect(message).not_to include(DirectoryServer::PASSWORD)
      fragments.each { |fragment| expect(message).to match(fragment) }
      message
    end

    it 'accepts a base entry that it can read' do
      expect(configure).to eq(result: true, err_msg: nil)
      expect(configure('base_dn' => 'OU=SimpKV, o=puppet , dc=simp')).to eq(result: true, err_msg: nil)
      expect(plugin.put('globals/k', '{"value":1}')).to eq(result: true, err_msg: nil)
    end

    it 'warns about world-readable files with secrets, and uses them' do
      open = File.join(directory.folder, 'open-password').tap { |file| File.write(file, DirectoryServer::PASSWORD) }
      [0o600, 0o660, 0o640].each { |mode| File.chmod(mode, open) && configure('admin_pw_file' => open) }
      expect(world.warnings).to eq([])
      File.chmod(0o604, open)
      expect(configure('admin_pw_file' => open)).to eq(result: true, err_msg: nil)
      expect(world.warnings).to match([/'admin_pw_file' #{open} is open to every local user \(mode 0604\): chmod o= /])
    end

    it 'names a server that refuses connections: a wrong port' do
      message = fails({ 'ldap_uri' => 'ldap://127.0.0.1:1' }, %r{ldap://127\.0\.0\.1:1\b}, /refused/i,
                      /ldapsearch .*-H ldap:/, /-y #{directory.password_file} /)
      expect(reproduced(message)).to eq(255)
    end

    it 'names a socket that does not exist' do
      fails({ 'ldap_uri' => 'ldapi://%2Fno%2Fsuch%2Fsocket', 'admin_pw_file' => nil }, /no.*such.*socket/i,
            /ldapsearch .*-Y EXTERNAL/)
    end

    it 'names a host that does not resolve' do
      fails({ 'ldap_uri' => 'ldap://no-such-host.invalid', 'connect_timeout_seconds' => 3 },
            %r{ldap://no-such-host\.invalid}, /name|address|host/i)
    end

    it 'names a base DN that does not exist' do
      message = fails_later({ 'base_dn' => 'ou=wrong,dc=simp' }, /#{directory.uri}/, /no such entry/)
      # 389-DS reports a missing entry only to an identity that may see its parent.
      expect(reproduced(message)).to eq({ Slapd => 32, Ds389 => 0 }[server])
      message = fails_later({ 'base_dn' => 'dc=elsewhere' }, /#{directory.uri}/, /no such entry/)
      expect(reproduced(message)).to eq(32)
    end

    it 'says that the server refuses the bind DN or the password; the server does not tell which' do
      address = /#{Regexp.escape(directory.uri)}/
      message = fails({ 'admin_pw_file' => directory.wrong_password_file }, address, /admin_dn.*admin_pw_file/)
      expect(reproduced(message)).to eq(49)
      fails({ 'admin_dn' => 'cn=nobody,dc=simp' }, address, /admin_dn.*admin_pw_file/, /cn=nobody,dc=simp/)
    end

    it 'says that the bind DN is not a DN' do
      fails({ 'admin_dn' => 'cn_Directory' }, /'cn_Directory'.*admin_dn/)
    end

    it 'says that the base DN is unreadable or missing; the server does not tell which' do
      fails_later({ 'admin_dn' => DirectoryServer::STRANGER_DN }, /'#{DirectoryServer::STRANGER_DN}'/,
                  /no access to it: .*give .* rights/)
    end

    it 'reports an unusable certificate, with a command that reproduces it with the same files' do
      Dir.mktmpdir do |folder|
        other = Certificates.new(folder)
        message = fails({ 'ldap_uri' => directory.tls_uri, 'tls_cacert' => other.cacert }, /certificate/i,
                        /LDAPTLS_CACERT=#{other.cacert} ldapsearch/)
        expect(reproduced(message)).to eq(255)
      end
    end

    it 'gives a command that works when pasted, with any newline at the end of the password file' do
      { "\n" => 1, "\r\n" => 2, '' => nil }.each do |newline, cut|
        file = File.join(directory.folder, "ends-in-#{cut}")
        File.write(file, "#{DirectoryServer::PASSWORD}#{newline}", perm: 0o600)
        message = fails_later({ 'admin_pw_file' => file, 'base_dn' => 'dc=elsewhere' }, /no such entry/)
        expect(message).to include(cut ? "head -c -#{cut} #{file} | ldapsearch" : "-y #{file} ")
        # The exit status was 49, because ldapsearch took the newline as part of the password.
        expect(reproduced(message)).to eq(32)
      end
    end

    {
      "Plugin missing 'ldap_uri' configuration" => { 'ldap_uri' => nil },
      "Invalid 'ldap_uri' configuration" => { 'ldap_uri' => 'ldaps:/too/few/slashes' },
      "Plugin missing 'admin_pw_file' configuration" => { 'ldap_uri' => 'ldap://127.0.0.1', 'admin_pw_file' => nil },
      "Configured 'admin_pw_file' /no/such does not exist" => { 'admin_pw_file' => '/no/such' },
      'TLS configuration incomplete' => { 'ldap_uri' => 'ldaps://127.0.0.1' },
      "Plugin misconfigured: 'retries' of simpkv backend 'b' must be a whole number" => { 'retries' => -1 }
    }.each do |message, more|
      it "says before it connects to a server: #{message}" do
        expect(configure(more)).to match(result: false, err_msg: /\A#{Regexp.escape(message)}/)
      end
    end

    it 'refuses a configuration without a backend of its type' do
      [nil, {}, { 'backend' => 'b', 'backends' => { 'b' => { 'type' => 'file', 'id' => 'x' } } }].each do |wrong|
        expect(plugin.configure(wrong)).to match(result: false, err_msg: /\APlugin misconfigured/)
      end
      expect(plugin.get('globals/k')).to eq(result: nil, err_msg: 'Internal error: get called before configure')
    end

    describe 'and then used' do
      it 'says which schema to load when the server has none of simpkv, or that of the other layout' do
        { nil => 'plain', 'plain' => 'hex', 'hex' => 'plain' }.each do |loaded, wanted|
          server.run(layout: loaded) do |other|
            backend = other.options('type' => 'ldap', 'id' => 'x', 'layout' => wanted)
            plugin.configure('backend' => 'b', 'backends' => { 'b' => backend })
            answer = plugin.put('environments/dev/k', '{"value":"hush-hush"}')
            file = { Slapd => %r{schema/openldap/simpkv}, Ds389 => %r{schema/389ds/#{wanted}\.ldif} }[server]
            expect(answer).to match(result: false, err_msg: /#{file}.*ldapsearch -LLL -H /)
            expect(answer[:err_msg]).to include(other.uri)
            expect(answer[:err_msg]).not_to include('hush')
          end
        end
      end

      it 'says that it may read, but not write' do
        server.run(access: 'read') do |other|
          backend = other.options('type' => 'ldap', 'id' => 'x')
          expect(plugin.configure('backend' => 'b', 'backends' => { 'b' => backend })).to eq(result: true, err_msg: nil)
          answer = plugin.put('globals/k', '{"value":"hush-hush"}')
          expect(answer).to match(result: false, err_msg: /access.*'#{DirectoryServer::USER_DN}'|'#{DirectoryServer::USER_DN}'.*access/)
          expect(reproduced(answer[:err_msg])).to eq(0)
          expect(answer[:err_msg]).to include(other.uri)
          expect(answer[:err_msg]).not_to include('hush')
        end
      end
    end

    # Calls the plugin through a function in a catalog.
    it 'fails a call with the whole message, or warns with it under softfail' do
      backend = directory.options('type' => 'ldap', 'ldap_uri' => 'ldap://127.0.0.1:1')
      options = { 'backends' => { 'default' => backend } }
      unreachable = %r{with key='k': simpkv Error: Unable to construct 'ldap/spec': Plugin could not access }
      expect { world.call('simpkv::get', 'k', options) }.to raise_error(RuntimeError, unreachable)
      expect(world.call('simpkv::get', 'k', options.merge('softfail' => true))).to be_nil
      expect(world.warnings).to match([/Plugin could not access .*ldapsearch/])
    end

    # The text of simpkv 1.0.0 was lost, if the server does not tell whether the entry exists: "simpkv ldap/spec Error:
    # Cannot read ...".
    it 'fails each call with the whole message if there is no base entry' do
      hide = directory.options('type' => 'ldap', 'base_dn' => 'ou=wrong,dc=simp')
      absent = { 'backends' => { 'default' => hide } }
      calls = { 'get' => ['k'], 'exists' => ['k'], 'delete' => ['k'], 'put' => ['k', 'secret', {}],
                'list' => ['f'], 'deletetree' => ['f'], 'tree' => ['f'], 'get_or_create' => ['k', 'secret', {}] }
      calls.each do |name, arguments|
        text = "simpkv Error: Unable to construct 'ldap/spec': Plugin could not access ou=wrong,dc=simp: "
        expect { world.call("simpkv::#{name}", *arguments, absent) }.to raise_error(RuntimeError) { |error|
          expect(error.message).to match(/\Asimpkv Error for simpkv::#{name} with key(dir)?='.': #{text}/)
          expect(error.message).to match(/no such entry.*'base_dn'.*\. To ask outside of Puppet: .*ldapsearch [^\n]*\z/)
          expect(error.message).not_to include('secret')
        }
      end
    end

    # The server is not to blame: the message ended with a command that asks it.
    it 'refuses to replace an encrypted document without the keys, and names their option last' do
      store.put('environments/production/k', '{"value":"eyJ","encoding":"jwe"}')
      options = { 'backends' => { 'default' => directory.options('type' => 'ldap', 'id' => id) } }
      expect { world.call('simpkv::put', 'k', 'new', {}, options) }.to raise_error(RuntimeError) { |error|
        expect(error.message).to match(/it is encrypted: set 'encryption_keys' of the backend/)
        expect(error.message).not_to match(/ldapsearch/)
      }
    end
  end
end
