# frozen_string_literal: true

require_relative '../../../../spec/support/command'
require_relative '../../../../spec/support/debian_slapd'
require_relative '../../../../spec/support/eventually'
require_relative '../../../../spec/support/ldap_store'
require_relative '../../../../spec/support/processes'

# Servers with entries for users and roles, whose administrator may change everything.
module AccessServers
  USERS_DN = 'ou=users,dc=simp'
  ROLES_DN = 'ou=roles,dc=simp'

  # An administrator of access control who is not that of the server: see `permit`.
  ADMIN_DN = 'cn=access,dc=simp'
  ADMIN = "dn: #{ADMIN_DN}\nobjectClass: organizationalRole\nobjectClass: simpleSecurityObject\n" \
          "userPassword: #{DirectoryServer::PASSWORD}\n"

  UNITS = %w[users roles].map { |name| "dn: ou=#{name},dc=simp\nobjectClass: organizationalUnit\n" }.join("\n")

  # OpenLDAP with cn=config.
  class Slapd < DebianSlapd
    def initialize(layout = 'plain')
      super()
      @layout = layout
    end

    # @return [Array<String>] the rules of the database, without numbers
    def rules
      entries('cn=config', '(olcSuffix=dc=simp)', 'olcAccess').first.fetch('olcAccess').map { |rule| rule[/(?<=\}).*/] }
    end

    # Makes the administrator of access control, with the rights that docs/access.md names.
    def permit
      add(ADMIN)
      add_rules('{1}mdb', *[BASE_DN, USERS_DN, ROLES_DN].map { |dn| [%(dn.subtree="#{dn}"), 'write'] })
      add_rules('{0}config', ['dn.base="cn=config"', 'read'],
                ['dn.one="cn=config" attrs=entry,objectClass,olcSuffix', 'read'],
                ['dn.base="olcDatabase={1}mdb,cn=config" attrs=entry,olcAccess,olcAddContentAcl', 'write'])
    end

    # Removes the identity for everything. Its rule stays for all others: without it, Debian's last rule lets everybody
    # read.
    def remove_old_identity
      delete_tree(USER_DN)
      rights = / by dn\.\w+="#{USER_DN}" write/
      rule = rules.grep(rights).first
      replace_rule(rule.sub(rights, ''), rule)
    end

    # Replaces a rule by another one, or adds one before all others.
    def replace_rule(new, old = nil)
      number = old ? rules.index(old) : 0
      change_rules('{1}mdb', [("delete: olcAccess\nolcAccess: {#{number}}" if old),
                              ("add: olcAccess\nolcAccess: {#{number}}#{new}" if new)].compact.join("\n-\n"))
    end

    # Lets writers add other entries than those of simpkv.
    def weaken_rules
      change_rules('{1}mdb', "replace: olcAddContentAcl\nolcAddContentAcl: FALSE")
    end

    # Changes cn=config.
    def configure(ldif)
      execute('ldapmodify', '-Q', '-Y', 'EXTERNAL', '-H', uri, stdin_data: ldif)
    end

    def entries(base_dn, *, **)
      return super unless base_dn == 'cn=config'

      as_local_user { super }
    end

    private

    def fill
      add(without_base)
      configure(Simpkv::Cli::DirectorySetup.new('openldap', @layout).text('config'))
      add("#{schema_file('base.ldif')}\n#{UNITS}")
    end

    # Puts rules for the administrator before all others.
    def add_rules(database, *rules)
      lines = rules.each_with_index.map do |(target, right), number|
        "olcAccess: {#{number}}to #{target} by dn.exact=\"#{ADMIN_DN}\" #{right} by * break"
      end
      change_rules(database, "add: olcAccess\n#{lines.join("\n")}")
    end

    def change_rules(database, change)
      configure("dn: olcDatabase=#{database},cn=config\nchangetype: modify\n#{change}\n")
    end

    def as_local_user
      @local = true
      yield
    ensure
      @local = false
    end

    def as_root
      @local ? ['-Q', '-Y', 'EXTERNAL', '-H', uri] : super
    end
  end

  # 389 Directory Server, with the other layout.
  class Ds < Ds389
    def initialize(layout = 'hex', **options)
      super(layout: layout, **options)
    end

    # As of Slapd.
    def permit
      add(ADMIN)
      [BASE_DN, USERS_DN, ROLES_DN].each { |dn| modify("dn: #{dn}\nchangetype: modify\nadd: aci\n#{aci}\n") }
    end

    # As of Slapd.
    def remove_old_identity
      replace_rule(nil, rules.find { |rule| rule.include?(%(userdn = "ldap:///#{USER_DN}")) })
      delete_tree(USER_DN)
    end

    # As of Slapd.
    def replace_rule(new, old = nil)
      changes = { 'delete' => old, 'add' => new }.compact.map { |change, rule| "#{change}: aci\naci: #{rule}" }
      modify("dn: #{BASE_DN}\nchangetype: modify\n#{changes.join("\n-\n")}\n")
    end

    # As of Slapd.
    def weaken_rules
      rules.grep(/targattrfilters/).each { |rule| replace_rule(rule.sub(/\(targattrfilters="[^"]*"\)/, ''), rule) }
    end

    # @return [Array<String>] the ACIs of the base entry
    def rules
      entry(BASE_DN, 'aci').fetch('aci')
    end

    private

    def fill
      super
      add(UNITS)
    end

    # All rights of the administrator on an entry and those below it.
    def aci
      %(aci: (targetattr="*")(version 3.0; acl "administrator"; allow (all) userdn="ldap:///#{ADMIN_DN}";))
    end
  end
end

# The command with access control on such a server.
RSpec.shared_context 'with access control' do |server, *layout, **options|
  include_context 'with the command'

  attr_reader :directory

  before(:context) do
    @directory = server.new(*layout, **options)
    @directory.start
  end

  after(:context) { @directory&.stop }

  before { @rules = directory.rules }

  after do
    accounts_and_groups.each { |dn| directory.delete_tree(dn) }
    admin.deletetree('globals/estate')
    admin.close
  end

  let(:id) { "i#{LdapIds.next}" }
  let(:admin_options) { directory.options('admin_dn' => directory.class::ROOT_DN, 'id' => id) }
  let(:admin) { Simpkv::Store.open('ldap', admin_options) }
  let(:backends) { { 'default' => admin_options.merge('type' => 'ldap') } }
  let(:access_options) do
    options = { 'users_dn' => AccessServers::USERS_DN, 'roles_dn' => AccessServers::ROLES_DN }
    directory.is_a?(Slapd) ? options.merge('config_uri' => directory.uri) : options
  end
  let(:config) { File.join(folder, 'simpkv.yaml').tap { |file| configure(file) } }

  # The declarations of most examples.
  let(:declared) do
    { 'users' => { 'one' => { 'password' => "file:#{password_file('one')}" },
                   'two' => { 'password' => "file:#{password_file('two')}" } },
      'roles' => { 'dev' => [{ 'prefixes' => %w[environments/dev globals/shared], 'rights' => %w[read list write] }],
                   'see' => [{ 'prefixes' => ['environments/*'], 'rights' => %w[read list] }] },
      'bindings' => { 'devs' => { 'users' => %w[one], 'roles' => %w[dev] },
                      'views' => { 'users' => %w[two], 'roles' => %w[see] } } }
  end

  def configure(file)
    File.write(file, { 'backends' => backends, 'access' => access_options }.to_yaml)
  end

  # @return [String] the name of a file with the password of a user
  def password_file(name, password = "pass #{name}")
    file = File.join(folder, "#{name}.pw")
    File.write(file, "#{password}\n", perm: 0o600) unless File.exist?(file)
    file
  end

  # @return [String] a file with declarations
  def file(data = declared)
    File.join(folder, 'access.yaml').tap { |name| File.write(name, data.to_yaml) }
  end

  # Runs `simpkv access`.
  def access(*arguments, **more, &block)
    simpkv('access', *arguments, **more, &block)
  end

  def access!(*arguments)
    simpkv!('access', *arguments)
  end

  def plan
    access('plan', '-o', 'json').then { |outcome| JSON.parse(outcome.out) }
  end

  def user_dn(name)
    "uid=#{name},#{AccessServers::USERS_DN}"
  end

  def role_dn(name)
    "cn=#{name},#{AccessServers::ROLES_DN}"
  end

  # @return [Array<String>] the names of the members of a role
  def members(role)
    members_of(role_dn(role))
  end

  def members_of(group)
    directory.entry(group, 'member').fetch('member').map { |dn| dn[/\A\w+=([^,]+)/, 1] }.sort
  end

  # Opens a store as a user meanwhile.
  def as(name, password_file = File.join(folder, "#{name}.pw"))
    identity = { 'admin_dn' => user_dn(name), 'admin_pw_file' => password_file }
    store = Simpkv::Store.open('ldap', admin_options.merge(identity))
    yield store
  ensure
    store&.close
  end

  # @return [Array<String>] the rules that the server had not before this example
  def own_rules
    directory.rules - @rules
  end

  # @return [Array<String>] the DNs of the entries that access control may have made
  def accounts_and_groups
    directory.search('dc=simp', '(|(objectClass=account)(objectClass=groupOfNames))')
  end

  # @return [Array] everything that access control may change
  def everything
    found = directory.entries('dc=simp', '(objectClass=*)', '*', 'aci').map do |entry|
      entry.transform_values(&:sort)
    end
    [found.sort_by { |entry| entry['dn'] }, directory.rules]
  end
end
