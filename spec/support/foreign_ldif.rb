# frozen_string_literal: true

# LDIF of what simpkv does not do in the folder `globals/shared`, which has a key `k` and a folder `f`.
class ForeignLdif
  DOCUMENT = '{"value":1}'
  RULE = '(targetattr="*")(version 3.0; acl "x"; allow (all) userdn="ldap:///anyone";)'

  # @param access [AccessDirectory]
  # @param secret [String] the DN of a key in another folder
  def initialize(access, secret)
    @access = access
    @secret = secret
    @shared = access.dn('globals/shared')
  end

  # @return [Hash{String => String}] entries
  def additions
    [referrals, accounts, of_every_server, @access.slapd? ? of_openldap : of_389ds].reduce(:merge)
  end

  # @return [Hash{String => String}] changes of the folder and the key
  def modifications
    [folder, key].flat_map do |dn|
      [*(@access.slapd? ? [] : %w[aci nsRoleDN]), 'seeAlso', 'description', 'userPassword'].map do |name|
        ["#{name} of #{dn}", change(dn, "add: #{name}", "#{name}: #{name == 'aci' ? RULE : @secret}")]
      end + %w[extensibleObject simpleSecurityObject referral].map do |name|
        ["class #{name} of #{dn}",
         change(dn, 'add: objectClass', "objectClass: #{name}", '-', 'add: userPassword', 'userPassword: x')]
      end
    end.to_h
  end

  # @return [Hash{String => String}] other names for the folder and the key, with and without the old one
  def renames
    names = ['userPassword=secretpw', 'description=x', "seeAlso=#{@secret.gsub(',', '\\,')}",
             'objectClass=extensibleObject', 'objectClass=referral']
    document = "simpkvJsonValue=#{DOCUMENT.gsub('"') { '\\22' }}"
    { folder => names, key => [*names, document] }.flat_map do |dn, list|
      list.product([0, 1]).map do |name, delete|
        ["#{dn} to #{name} (#{delete})", "dn: #{dn}\nchangetype: modrdn\nnewrdn: #{name}\ndeleteoldrdn: #{delete}"]
      end
    end.to_h
  end

  # @return [String] the key `x` as replication marks one of two
  def conflict
    entry(:key, *classes('ldapSubEntry'), "nsds5ReplConflict: namingConflict #{key}")
  end

  # @return [Hash{String => Array(String, String)}] by DN, a part of the reason why it is foreign, and its LDIF
  def planted
    { "ou=ref,#{@shared}" => ['object class referral', referral('ou=ref')],
      "ou=pw,#{@shared}" => ['attribute userPassword', unit('userPassword: x', name: 'pw')],
      "description=x,#{@shared}" => ['its name is a description', other_name],
      "ou=ext,#{@shared}" => ['object class extensibleObject', unit(*classes('extensibleObject'), name: 'ext')],
      "ou=x,#{key}" => ['it is below a key', unit(above: key)],
      **hidden }
  end

  private

  def folder
    @access.dn('globals/shared/f')
  end

  def key
    @access.dn('globals/shared/k', :key)
  end

  # Entries that searches of simpkv do not show.
  def hidden
    if @access.slapd?
      return { "cn=x,#{@shared}" => ['object class subentry', of_openldap['a subentry']],
               "userPassword=x,#{@shared}" => ['its name is a userPassword', account] }
    end

    { "ou=x,#{@shared}" => ['object class cosIndirectDefinition', class_of_service.values.first] }
  end

  def referrals
    { 'a referral' => referral('ou=x'), 'a referral beside folders' => referral('cn=x') }
  end

  def accounts
    { 'a folder with a password' => unit('userPassword: secretpw'),
      'an account' => entry(:folder, *classes('simpleSecurityObject'), 'userPassword: secretpw'),
      'a key that is an account' => entry(:key, *classes('simpleSecurityObject'), 'userPassword: secretpw'),
      'an account with a name' => unit(*classes('uidObject'), 'uid: x', 'userPassword: secretpw'),
      'a password in another language' => unit('userPassword;lang-en: secretpw') }
  end

  def of_every_server
    { 'an extensible folder' => unit(*classes('extensibleObject'), "seeAlso: #{@secret}"),
      'an extensible key' => entry(:key, *classes('extensibleObject'), "seeAlso: #{@secret}"),
      'an alias' => other(%w[alias extensibleObject], "aliasedObjectName: #{@secret}"),
      'a group' => other(%w[groupOfNames], "member: #{@secret}"),
      'an attribute of another entry' => unit("seeAlso: #{@secret}"),
      'an attribute of another entry by its number' => unit("2.5.4.34: #{@secret}"),
      'an attribute of another entry in another language' => unit("seeAlso;lang-en: #{@secret}"),
      'a description' => unit('description: x'),
      'a name of another attribute' => other_name }
  end

  def of_openldap
    { 'a subentry' => other(%w[subentry], 'subtreeSpecification: {}') }
  end

  def of_389ds
    [class_of_service, roles, attributes_of_389ds, languages].reduce(:merge).merge(
      'a view' => unit(*classes('nsView'), 'nsViewFilter: (objectClass=*)'),
      'a hidden folder' => unit(*classes('ldapSubEntry')), 'a tombstone' => unit(*classes('nsTombstone')),
      'a key that is a folder' => entry(:key, *classes('organizationalUnit'), 'ou: x')
    )
  end

  def class_of_service
    { @secret => 'simpkvJsonValue', 'cn=config' => 'nsslapd-rootpw' }.flat_map do |dn, attribute|
      %w[operational override operational-default].map do |way|
        ["class of service that shows #{dn} (#{way})",
         unit(*classes('ldapSubEntry', 'cosSuperDefinition', 'cosIndirectDefinition'), 'cosIndirectSpecifier: seeAlso',
              "cosAttribute: #{attribute} #{way}", "seeAlso: #{dn}")]
      end
    end.to_h
  end

  def roles
    { 'a filtered role' => other(%w[nsRoleDefinition nsComplexRoleDefinition nsFilteredRoleDefinition],
                                 'nsRoleFilter: (objectClass=*)'),
      'a managed role' => other(%w[ldapSubEntry nsRoleDefinition nsSimpleRoleDefinition nsManagedRoleDefinition]),
      'a member of a role' => unit("nsRoleDN: cn=x,#{@shared}"),
      'a key that is a member of a role' => entry(:key, "nsRoleDN: cn=x,#{@shared}") }
  end

  def attributes_of_389ds
    { 'a folder with rights' => unit("aci: #{RULE}"),
      'a folder with a policy of passwords' => unit("pwdpolicysubentry: #{@secret}"),
      'a folder with limits' => unit('nsSizeLimit: -1'),
      'a conflict entry' => unit("nsds5ReplConflict: namingConflict #{@secret}") }
  end

  # The server looks at values with an option in some places.
  def languages
    { 'a member of a role in another language' => unit("nsRoleDN;lang-en: cn=x,#{@shared}"),
      'a folder with rights in another language' => unit("aci;lang-en: #{RULE}") }.merge(
        %w[extensibleObject nsView].to_h do |name|
          ["the class #{name} in another language", unit("objectClass;lang-en: #{name}")]
        end
      )
  end

  # A folder or a key, with further lines.
  def entry(kind, *lines)
    dn = @access.dn('globals/shared/x', kind)
    type, value = dn[/\A[^,]+/].split('=')
    folder = type == 'ou' ? 'organizationalUnit' : 'simpkvFolder'
    ["dn: #{dn}", 'changetype: add', *classes(kind == :key ? 'simpkvEntry' : folder), "#{type}: #{value}",
     *('simpkvId: x' if type == 'simpkvHexId'), *("simpkvJsonValue: #{DOCUMENT}" if kind == :key), *lines].join("\n")
  end

  def unit(*lines, name: 'x', above: @shared)
    ["dn: ou=#{name},#{above}", 'changetype: add', *classes('organizationalUnit'), "ou: #{name}", *lines].join("\n")
  end

  def other(names, *lines)
    ["dn: cn=x,#{@shared}", 'changetype: add', *classes(*names), 'cn: x', *lines].join("\n")
  end

  def other_name
    ["dn: description=x,#{@shared}", 'changetype: add', *classes('organizationalUnit'), 'ou: x', 'description: x']
      .join("\n")
  end

  # The entry that a rename makes of a folder.
  def account
    ["dn: userPassword=x,#{@shared}", 'changetype: add', *classes('organizationalUnit'), 'ou: x', 'userPassword: x']
      .join("\n")
  end

  def referral(name)
    ["dn: #{name},#{@shared}", 'changetype: add', *classes('referral', 'extensibleObject'), name.sub('=', ': '),
     'ref: ldap://attacker.example/dc=simp'].join("\n")
  end

  def change(dn, *lines)
    ["dn: #{dn}", 'changetype: modify', *lines].join("\n")
  end

  def classes(*names)
    names.map { |name| "objectClass: #{name}" }
  end
end
