# frozen_string_literal: true

require_relative '../support/command'
require_relative '../support/ds389'
require_relative '../support/slapd'

# From an empty server to the first key.
RSpec.describe 'simpkv init' do
  include_context 'with the command'

  it 'creates the folder of a file backend' do
    expect(simpkv!('init')).to match(/keys was made$/)
    expect(File.stat(File.join(folder, 'keys')).mode & 0o007).to eq(0)
    expect(simpkv!('init')).to match(/keys already exists$/)
  end

  # It created a folder if the configuration of the directory was missing.
  it 'refuses options for a directory with a file backend' do
    [%w[--only base], %w[--local], %w[--as cn=x]].each do |arguments|
      expect(simpkv('init', *arguments).to_a).to match(['', /are for directories: .* keeps its keys in files/, 64])
    end
    expect(File).not_to exist(File.join(folder, 'keys'))
  end

  %w[plain hex].each do |layout|
    it "loads the #{layout} schema and creates the base entry on 389-DS" do
      Ds389.run(layout: nil) do |server|
        backends['default'] = { 'type' => 'ldap' }.merge(server.options('layout' => layout))
        made = JSON.parse(simpkv!('init', '--as', Ds389::ROOT_DN, '--password-file', server.password_file, '-o',
                                  'json'))
        expect(made['schema']).to eq("was loaded: #{layout}")
        simpkv!('put', 'app1/key', 'value')
        expect(simpkv!('get', 'app1/key')).to eq('value')
        again = simpkv!('init', '--as', Ds389::ROOT_DN, '--password-file', server.password_file)
        expect(again).to match(/^schema: +already exists$/).and match(/^base entry: +already exists$/)
      end
    end

    it "loads the #{layout} schema on OpenLDAP as the identity of cn=config" do
      config_database = <<~CONFIGURATION
        database config
        rootdn "cn=config"
        rootpw "#{DirectoryServer::PASSWORD}"
      CONFIGURATION
      Slapd.run(layout: nil, more: config_database) do |server|
        backends['default'] = { 'type' => 'ldap' }.merge(server.options('layout' => layout))
        simpkv!('init', '--only', 'schema', '--as', 'cn=config', '--password-file', server.password_file)
        simpkv!('put', 'app1/key', 'value')
        expect(simpkv!('get', 'app1/key')).to eq('value')
      end
    end
  end

  { 'plain' => 'hex', 'hex' => 'plain' }.each do |layout, other|
    { Slapd => 'cn=config', Ds389 => Ds389::ROOT_DN }.each do |type, administrator|
      # It printed 'was loaded' and exited with 0.
      it "refuses the #{layout} schema on a server of #{type.name} that carries the other one" do
        more = { more: "database config\nrootdn cn=config\nrootpw \"#{DirectoryServer::PASSWORD}\"\n" }
        type.run(layout: other, **(type == Slapd ? more : {})) do |server|
          backends['default'] = { 'type' => 'ldap' }.merge(server.options('layout' => layout))
          expect(simpkv('init', '--as', administrator, '--password-file', server.password_file))
            .to have_attributes(out: '', code: 78, err: /carries the schema of the layout #{other}.*'layout: #{other}'/)
        end
      end
    end
  end

  it 'explains the step by hand if it may not load the schema' do
    Slapd.run(layout: nil) do |server|
      backends['default'] = { 'type' => 'ldap' }.merge(server.options('layout' => 'plain'))
      expect(simpkv('init', '--only', 'schema'))
        .to have_attributes(code: 77,
                            err: %r{By hand: ldapadd -Q -Y EXTERNAL -H ldapi:/// -f /.*/schema/openldap/simpkv.ldif})
    end
  end

  [[Slapd, { tls: true }], [Ds389, { tls: true }]].each do |type, options|
    it "creates the base entry with the entries above it, on #{type.name}" do
      type.run(**options) do |server|
        base = 'ou=keys,ou=more,o=site,dc=simp'
        backends['default'] = { 'type' => 'ldap' }.merge(server.options('base_dn' => base))
        as_root = ['--as', type::ROOT_DN, '--password-file', server.password_file]
        made = JSON.parse(simpkv!('init', *as_root, '-o', 'json'))
        expect(made).to include('schema' => 'already exists',
                                'base entry' => "was made: o=site,dc=simp; ou=more,o=site,dc=simp; #{base}")
        expect(simpkv!('init', *as_root)).to match(/^base entry: +already exists$/)
      end
    end

    it "names the identity that lacks the right, on #{type.name}" do
      type.run(**options) do |server|
        backends['default'] = { 'type' => 'ldap' }.merge(server.options('base_dn' => 'ou=keys,dc=simp'))
        outcome = simpkv('init', '--only', 'base')
        expect(outcome).to have_attributes(code: 77, err: /ou=keys,dc=simp.*access.* --as and --password-file/i)
        expect(outcome.err).not_to include(DirectoryServer::PASSWORD)
      end
    end
  end

  it 'refuses to create an entry of an unknown kind' do
    Slapd.run do |server|
      backends['default'] = { 'type' => 'ldap' }.merge(server.options('base_dn' => 'uid=keys,dc=simp'))
      expect(simpkv('init', '--only', 'base')).to have_attributes(code: 65, err: /'uid' has to be made by hand/)
    end
  end
end
