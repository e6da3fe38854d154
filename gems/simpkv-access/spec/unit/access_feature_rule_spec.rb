# frozen_string_literal: true

require 'simpkv/backend/feature_rule'

RSpec.describe Simpkv::FeatureRule do
  def rule(*permissions)
    %[(targetattr != "aci")(version 3.0; acl "allow (all) views"; #{permissions.map { |each| "#{each};" }.join(' ')})]
  end

  it 'knows the rules for names' do
    ['allow (read) userdn = "ldap:///uid=book,dc=simp"', 'allow(read,search)groupdn="ldap:///cn=a,dc=simp"',
     'allow (read) (userdn = "ldap:///uid=a,dc=simp || ldap:///uid=b,dc=simp") or roledn = "ldap:///cn=r,dc=simp"',
     'deny (all) userdn = "ldap:///anyone"'].each do |permission|
      expect([permission, described_class.for_names?(rule(permission))]).to eq([permission, true])
    end
  end

  it 'takes no other rule for one, nor one with another permission' do
    narrow = 'allow (read) userdn = "ldap:///uid=book,dc=simp"'
    ['userdn != "ldap:///uid=book,dc=simp"', 'ip = "*"', 'dns = "*"', 'userdn = "ldap:///uid=*,dc=simp"',
     'userdn = "ldap:///dc=simp??sub?(uid=*)"', 'not userdn = "ldap:///uid=a,dc=simp"', 'userdn = "ldap:///all"',
     'userdn = "ldap:///uid=a,dc=simp || ldap:///anyone"', 'userdn = "ldap:///uid=a,dc=simp" or ip = "*"',
     'authmethod = "simple"', 'userdn = "ldap:///self"', ''].each do |who|
      [["allow (read) #{who}"], [narrow, "allow (search) #{who}"]].each do |permissions|
        expect([who, described_class.for_names?(rule(*permissions))]).to eq([who, false])
      end
    end
  end

  it 'knows the rules for everybody' do
    expect(described_class.for_anybody?(rule('allow (read) userdn = "ldap:///all"'))).to be(true)
    expect(described_class.for_anybody?(rule('allow (read) userdn = "ldap:///uid=all,dc=simp"'))).to be(false)
  end
end
