# frozen_string_literal: true

require_relative '../support/command'
require_relative '../support/ds389'
require_relative '../support/slapd'

# What `simpkv doctor` finds, and says to do about it.
RSpec.describe 'simpkv doctor' do
  include_context 'with the command'

  # @return [Array<Hash>] its findings that are not ok
  def findings(*arguments)
    outcome = simpkv('doctor', '-o', 'json', *arguments)
    expect(outcome.err).to eq('')
    all = JSON.parse(outcome.out)
    expect(outcome.code).to eq(all.any? { |finding| finding['state'] == 'problem' } ? 69 : 0)
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
      expect(findings).to contain_exactly(problem("key 'globals/lat\\xE9'", /no key can be called that/, /delete it/))
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
        type.run(layout: 'plain', limits: true, **options) do |server|
          backends['default'] = { 'type' => 'ldap' }.merge(server.options)
          yield server
        end
      end

      def also(options)
        backends['default'].merge!(options)
      end

      it 'finds that there is no server' do
        at(type) do
          also('ldap_uri' => 'ldap://127.0.0.1:1')
          expect(findings).to contain_exactly(problem('connecting', /refused/i, /start the server.*ldapsearch/))
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
          expect(findings).to contain_exactly(problem('base entry', /no (such )?entry/, /simpkv init/))
        end
      end

      it 'finds that there are no rights' do
        at(type, access: 'read') do
          expect(findings.last).to problem('rights', /access/i, /let cn=simpkv,dc=simp write below/)
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

      it 'finds a limit that would cut lists' do
        at(type, limits: false) do
          expect(findings.last).to problem('limits', /limit/, /schema.*limits/)
        end
      end
    end
  end
end
