# frozen_string_literal: true

require_relative '../../../../spec/support/slapd'

# An OpenLDAP server with the accounts of people, over TLS. Three wrong passwords lock an account. The password of each
# is {DirectoryServer::PASSWORD}.
class People < Slapd
  USERS_DN = 'ou=people,dc=simp'
  GROUPS_DN = 'ou=groups,dc=simp'
  LOCKED_AFTER = 3

  def initialize
    super(tls: true, more: "moduleload ppolicy\noverlay ppolicy\nppolicy_default cn=policy,dc=simp\n")
  end

  # @return [Hash{String => Object}] the options of a backend that sees the accounts
  def backend
    options('type' => 'ldap', 'ldap_uri' => tls_uri, 'tls_cacert' => certificates.cacert, 'admin_dn' => ROOT_DN)
  end

  # @return [Hash{String => Object}] `sign_in` of the section `server`
  def section
    { 'backend' => 'people', 'users_dn' => USERS_DN, 'groups' => GROUPS_DN }
  end

  # @return [String] the DN of an account
  def dn_of(name)
    "uid=#{name},#{USERS_DN}"
  end

  # @param more [Hash{String => String}] further attributes
  def add_person(name, dn: dn_of(name), **more)
    attributes = { 'objectClass' => 'account', 'uid' => name, 'userPassword' => PASSWORD }.merge(more)
    add("dn: #{dn}\nobjectClass: simpleSecurityObject\n" \
        "#{attributes.flat_map { |key, values| [*values].map { |value| "#{key}: #{value}\n" } }.join}")
  end

  def add_group(name, members, below: GROUPS_DN)
    add("dn: cn=#{name},#{below}\nobjectClass: groupOfNames\ncn: #{name}\n" \
        "#{members.map { |member| "member: #{dn_of(member)}\n" }.join}")
  end

  # Locks an account, by wrong passwords.
  def lock(name)
    wrong = ['ldapwhoami', '-x', '-D', dn_of(name), '-w', 'wrong', '-H', uri]
    LOCKED_AFTER.times { system(*wrong, %i[out err] => File::NULL) }
  end

  private

  def fill
    super
    units = [USERS_DN, GROUPS_DN].map { |dn| "dn: #{dn}\nobjectClass: organizationalUnit\n" }
    policy = "dn: cn=policy,dc=simp\nobjectClass: organizationalRole\nobjectClass: pwdPolicy\ncn: policy\n" \
             "pwdAttribute: userPassword\npwdLockout: TRUE\npwdMaxFailure: #{LOCKED_AFTER}\npwdLockoutDuration: 0\n"
    add([*units, policy].join("\n"))
  end
end
