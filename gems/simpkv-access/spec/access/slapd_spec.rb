# frozen_string_literal: true

require_relative 'access_helper'

RSpec.describe 'simpkv access, with the state in another backend', needs: :cext do
  include_context 'with access control', AccessServers::Slapd

  let(:backends) do
    { 'default' => { 'type' => 'file', 'id' => 'state', 'root_path' => File.join(folder, 'keys') },
      'directory' => directory.options('type' => 'ldap', 'admin_dn' => Slapd::ROOT_DN, 'id' => id) }
  end
  let(:access_options) do
    { 'users_dn' => AccessServers::USERS_DN, 'roles_dn' => AccessServers::ROLES_DN, 'backend' => 'directory',
      'config_uri' => directory.uri }
  end

  it 'refuses another directory at the same address' do
    access!('apply', file)
    expect(access('plan').code).to eq(0)
    AccessServers::Slapd.run do |other|
      File.write(config, File.read(config).gsub(directory.uri, other.uri))
      [%w[plan], %w[apply], ['apply', file], %w[status], %w[delete --all]].each do |arguments|
        outcome = access(*arguments)
        expect([outcome.code, outcome.err]).to match([2, /\Asimpkv: this is another directory: /])
      end
      expect(other.search('dc=simp', '(|(objectClass=account)(objectClass=groupOfNames)(ou=instances))')).to eq([])
    end
  end

  it 'says which option is wrong for a backend of files' do
    File.write(config, File.read(config).sub('backend: directory', 'backend: default'))
    expect(access('plan').to_a).to match(['', /access control needs a backend of type ldap: set 'backend' of/, 78])
  end
end

RSpec.describe 'simpkv access, with an identity that may not read cn=config', needs: :cext do
  include_context 'with access control', AccessServers::Slapd

  let(:access_options) { { 'users_dn' => AccessServers::USERS_DN, 'roles_dn' => AccessServers::ROLES_DN } }

  it 'prints the rules for an administrator once, and status tries their effect' do
    expect(access('plan', file).err).to match(/if a rule there lets anybody read, such as .* put 'to dn\.subtree=/)
    ldif = access!('apply', file)[/^dn: .*?\n\n/m]
    expect(access('apply', file).to_a).to eq(['', '', 0])
    expect(access('status', '--verify').to_a)
      .to match([%r{^rules .*unknown .*cn=config.*^user one: 'environments/dev': lacks list, read, write$}m, '', 1])
    directory.configure(ldif)
    expect(access('status', '--verify').to_a).to match([/^rules +- +unknown /, '', 0])
  end

  it 'prints what changes later' do
    directory.configure(access!('apply', file)[/^dn: .*?\n\n/m])
    roles = declared['roles'].merge('dev' => [{ 'prefixes' => %w[environments/dev], 'rights' => %w[read list] }])
    changed = file(declared.merge('roles' => roles))
    planned = JSON.parse(access('plan', changed, '-o', 'json').out)
    directory.configure(access!('apply', changed)[/^dn: .*?\n\n/m])
    expect(planned['steps'].map { |step| step['ldif'] }).to match([/^delete: olcAccess$/])
    expect(access('status', '--verify').code).to eq(0)
    as('one') { |store| expect { store.put('environments/dev/key', '{"value":1}') }.to raise_error(Simpkv::Error) }
  end

  it 'says which option is missing when the identity may not change the rules' do
    name = directory.entries('cn=config', '(olcSuffix=dc=simp)', '1.1').first['dn'].first
    directory.configure("dn: olcDatabase={0}config,cn=config\nchangetype: modify\nadd: olcAccess\n" \
                        "olcAccess: {0}to * by dn.exact=#{Slapd::ROOT_DN} read by * break\n")
    outcome = access('apply', file)
    directory.configure("dn: olcDatabase={0}config,cn=config\nchangetype: modify\ndelete: olcAccess\n" \
                        "olcAccess: {0}\n")
    expect([outcome.code,
            outcome.err]).to match([77, /set 'config_dn' of 'access', or let .* this:\ndn: #{Regexp.escape(name)}\n/m])
  end

  it 'names the options of access when cn=config cannot be reached with them' do
    wrong = { 'config_dn' => 'cn=nobody', 'config_pw_file' => password_file('one') }
    { { 'config_uri' => 'ldap://127.0.0.1' } => [65, /cn=config: .*missing 'config_pw_file'/],
      wrong => [77, /cn=config: .* check 'config_dn' and the file of 'config_pw_file'/] }.each do |options, failure|
      access_options.replace(access_options.slice('users_dn', 'roles_dn').merge(options))
      configure(config)
      outcome = access('plan', file)
      expect([outcome.code, outcome.err]).to match(failure)
    end
  end
end

RSpec.describe "simpkv access, with Debian's rules and none that closes the tree of the keys", needs: :cext do
  include_context 'with access control', AccessServers::Slapd

  around do |example|
    rule = directory.rules.grep(/by \* none/).find { |each| each.include?(%("#{DirectoryServer::BASE_DN}")) }
    directory.replace_rule(nil, rule)
    example.run
  ensure
    directory.replace_rule(rule)
  end

  # Only status --verify told that users without roles read everything.
  it 'warns when it plans and applies, names the rule that lets everybody read, and what to add' do
    warning = "simpkv: roles: also without one, anybody may read keys, by your rule '{N}to * by * read': put " \
              "'to dn.subtree=\"#{DirectoryServer::BASE_DN}\" by * none' in front of it, and behind simpkv's rules\n"
    %w[plan apply plan apply].each { |command| expect(access(command, file).err.sub(/\{\d+\}/, '{N}')).to eq(warning) }
    number = directory.rules.index('to * by * read')
    directory.configure("dn: olcDatabase={1}mdb,cn=config\nchangetype: modify\nadd: olcAccess\n" \
                        "olcAccess: {#{number}}#{warning[/(?<=put ').*(?=' in)/]}\n")
    expect([access('apply', file).to_a, access('status', '--verify').code]).to eq([['', '', 0], 0])
  ensure
    directory.replace_rule(nil, warning[/(?<=put ').*(?=' in)/])
  end
end

RSpec.describe 'simpkv access status --verify, on OpenLDAP with virtual list views', needs: :cext do
  include_context 'with access control', AccessServers::Slapd

  before do
    directory.configure(<<~LDIF)
      dn: cn=module{0},cn=config
      changetype: modify
      add: olcModuleLoad
      olcModuleLoad: sssvlv

      dn: olcOverlay=sssvlv,olcDatabase={1}mdb,cn=config
      changetype: add
      objectClass: olcSssVlvConfig
      olcOverlay: sssvlv
    LDIF
  end

  # slapd refused the request, which named no ordering rule, and the command failed.
  it 'finds that they give nothing away, and tries that with a request that slapd carries out' do
    access!('apply', file)
    expect(access('status', '--verify').to_a).to match([/^user +one +present/, '', 0])
    allow_reading = %(to dn.subtree="#{DirectoryServer::BASE_DN}" by users read)
    directory.replace_rule(allow_reading)
    expect(access('status', '--verify').out).to match(/a user without roles: 'globals': may find out values/)
  ensure
    directory.replace_rule(nil, directory.rules.find { |rule| rule.include?(' by users read') })
  end
end
