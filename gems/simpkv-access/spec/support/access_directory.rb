# frozen_string_literal: true

require 'simpkv/access/ldap_rules/aci'
require 'simpkv/access/ldap_rules/olc_access'
require_relative '../../../../spec/support/ldap_store'

# A directory with users, roles and access rules. All users have the password of the server's identities.
class AccessDirectory
  ID = 'access'
  USERS_DN = "ou=users,#{DirectoryServer::SUFFIX}"
  ROLES_DN = "ou=roles,#{DirectoryServer::SUFFIX}"
  CONFIG_DN = 'cn=config'
  DATABASE_DN = 'olcDatabase={1}mdb,cn=config'

  # @return [DirectoryServer]
  attr_reader :server

  # @param kind [Class] of the server
  # @param more [String] further lines for the database section of slapd.conf
  # @param options [Hash{Symbol => Object}] of the server
  def initialize(kind, layout, more: '', **options)
    config = "#{more}database config\nrootdn #{CONFIG_DN}\nrootpw \"#{DirectoryServer::PASSWORD}\"\n"
    options[:more] = config if kind <= Slapd
    @server = kind.new(layout: layout, limits: true, **options)
    @stores = {}
  end

  def start
    @server.start
    [USERS_DN, ROLES_DN].each do |dn|
      root.directory.add_entry(dn, 'objectClass' => ['organizationalUnit'], 'ou' => [dn[/\Aou=(\w+)/, 1]])
    end
  end

  def stop
    @stores.each_value(&:close)
    @server.stop
  end

  def slapd?
    @server.is_a?(Slapd)
  end

  # @return [Hash{String => Object}] the options of the administrator's store
  def settings
    options(@server.class::ROOT_DN)
  end

  # @return [Hash{String => Object}] the options `access` of a site
  def section
    config = { 'config_dn' => CONFIG_DN, 'config_pw_file' => server.password_file }
    { 'users_dn' => USERS_DN, 'roles_dn' => ROLES_DN }.merge(slapd? ? config : {})
  end

  # @return [Simpkv::Store] of the administrator
  def root
    @stores['root'] ||= store_of(@server.class::ROOT_DN)
  end

  # @return [Simpkv::Store] of a user
  def store(user)
    @stores[user] ||= store_of(user_dn(user))
  end

  # @return [Simpkv::Store] of any identity; the caller closes it
  def store_of(identity)
    Simpkv::Store.open('ldap', options(identity))
  end

  def user_dn(user)
    "uid=#{user},#{USERS_DN}"
  end

  def role_dn(role)
    "cn=#{role},#{ROLES_DN}"
  end

  def add_user(user)
    root.directory.add_entry(user_dn(user), 'objectClass' => %w[account simpleSecurityObject], 'uid' => [user],
                                            'userPassword' => [DirectoryServer::PASSWORD])
  end

  # @param users [Array<String>] its members
  def add_role(role, users)
    root.directory.add_entry(role_dn(role), 'objectClass' => ['groupOfNames'], 'cn' => [role],
                                            'member' => [role_dn(role), *users.map { |user| user_dn(user) }])
  end

  # @return [Simpkv::Access::Grant]
  def grant(role, prefix, rights)
    Simpkv::Access::Grant.new(role: role, prefix: prefix, dn: dn(prefix.chomp('/*')), rights: rights,
                              groups: [role_dn(role)])
  end

  # Makes the rules of the server those of the grants, in one change.
  #
  # @return [Array] the changes
  def apply(grants)
    changes = rules.changes(values, grants)
    entries = rules_store.directory
    rules.settings(grants).each { |name, value| entries.modify_entry(rules_dn, [[:replace, name, [value]]]) }
    raise 'the rules were changed meanwhile' unless changes.empty? || entries.modify_entry(rules_dn, changes)

    changes
  end

  # Puts a rule of the site before all others; for slapd.
  def add_rule(rule)
    rules_store.directory.modify_entry(rules_dn, [[:add, 'olcAccess', ["{0}#{rule}"]]])
  end

  # @return [Simpkv::Access::LdapRules]
  def rules
    instance = dn('globals').delete_prefix('ou=globals,')
    layout = @server.layout
    if slapd?
      attributes = Simpkv::Access::OwnEntries.attributes_beyond(root, layout)
      return Simpkv::Access::OlcAccess.new(below: instance, roles_dn: ROLES_DN, layout: layout, attributes: attributes)
    end
    foreign = Simpkv::Access::OwnEntries.foreign_attributes(root, layout)
    Simpkv::Access::Aci.new(below: instance, layout: layout, foreign_attributes: foreign)
  end

  # @return [Array<String>] the access rules that the server has
  def values
    rules_store.directory.read_entry(rules_dn, [rules.attribute]).fetch(rules.attribute, [])
  end

  # @return [String] the DN of a folder or a key
  def dn(path, kind = :folder)
    Simpkv::Native.dn_from_path(@server.layout.to_sym, kind, DirectoryServer::BASE_DN, ID, path)
  end

  # Runs an LDAP tool as a user.
  #
  # @return [Array(String, Boolean)] its output, and whether it succeeded
  def tool(user, name, *arguments, input: '')
    identity = ['-x', '-D', user_dn(user), '-w', DirectoryServer::PASSWORD, '-H', @server.uri]
    output, status = Open3.capture2e(name, *identity, *arguments, stdin_data: input)
    [output, status.success?]
  end

  private

  def options(identity)
    @server.options('id' => ID, 'admin_dn' => identity)
  end

  # @return [Simpkv::Store] of the administrator of the rules
  def rules_store
    slapd? ? (@stores['config'] ||= store_of(CONFIG_DN)) : root
  end

  def rules_dn
    slapd? ? DATABASE_DN : DirectoryServer::BASE_DN
  end
end
