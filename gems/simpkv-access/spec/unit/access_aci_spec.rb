# frozen_string_literal: true

require 'spec_helper'
require 'simpkv/access/ldap_rules/aci'

RSpec.describe Simpkv::Access::Aci do
  subject(:access) { with_layout('plain') }

  let(:dev) { 'ou=dev,ou=environments,ou=x,ou=instances,dc=simp' }

  def with_layout(layout)
    described_class.new(below: 'ou=x,ou=instances,dc=simp', layout: layout, foreign_attributes: %w[aci seeAlso])
  end

  def grant(role, rights, dn: dev, groups: ["cn=#{role},ou=roles,dc=simp"])
    Simpkv::Access::Grant.new(role: role, prefix: 'environments/dev', dn: dn, rights: rights, groups: groups)
  end

  # The rule without its target and its group.
  def outline(rule)
    rule.sub(/\(target="[^"]+"\)/, '').sub(/ groupdn="[^"]+"/, '')
  end

  reading = lambda do |right, hidden|
    "(targetattr!=\"#{hidden}\")(version 3.0; acl \"simpkv roles: environments/dev #{right}\"; " \
      'allow (read,search,compare);)'
  end
  read = reading.call('read', 'aci || userPassword')
  list = reading.call('list', 'aci || userPassword || simpkvJsonValue')
  addable = '(targattrfilters="add=objectClass:(|(objectClass=simpkvEntry)(objectClass=organizationalUnit)' \
            '(objectClass=top)) && aci:(!(aci=*)) && seeAlso:(!(seeAlso=*))")'
  key_or_folder = '(|(&(objectClass=simpkvEntry)(!(|(objectClass=organizationalUnit))))' \
                  '(&(objectClass=organizationalUnit)(!(|(objectClass=simpkvEntry)))))'
  special = %w[aci=* nsRoleDN=* seeAlso=* userPassword=*] +
            %w[alias cosSuperDefinition cosTemplate extensibleObject nsRoleDefinition nsView passwordPolicy
               referral].map { |name| "objectClass=#{name}" }
  write = "(targetattr=\"simpkvJsonValue\")#{addable}(targetfilter=\"(&#{key_or_folder}" \
          "(!(|#{special.map { |each| "(#{each})" }.join}))" \
          '(!(entrydn=ou=dev,ou=environments,ou=x,ou=instances,dc=simp)))")' \
          '(version 3.0; acl "simpkv roles: environments/dev write"; allow (write,add,delete);)'
  {
    %w[read] => [read], %w[list] => [list], %w[list read] => [read], %w[write] => [read, write],
    %w[read list write] => [read, write], [] => []
  }.each do |rights, rules|
    it "makes the rules of #{rights.empty? ? 'no right' : rights.join(' and ')}" do
      expect(access.rules([grant('r', rights)]).map { |rule| outline(rule) }).to eq(rules)
    end
  end

  it 'knows the folders of the layout hex' do
    rule = with_layout('hex').rules([grant('r', %w[write])]).last
    expect(rule).to include('"add=objectClass:(|(objectClass=simpkvEntry)(objectClass=simpkvFolder)(objectClass=organ')
      .and include('(&(objectClass=simpkvFolder)(!(|(objectClass=simpkvEntry)(objectClass=organizationalUnit))))')
  end

  it 'names the folder of the prefix and all groups' do
    rule = access.rules([grant('r', %w[read], groups: %w[cn=r,dc=simp cn=ops,dc=simp])]).first
    expect(rule).to start_with(%[(target="ldap:///#{dev}")])
      .and end_with('groupdn="ldap:///cn=r,dc=simp || ldap:///cn=ops,dc=simp";)')
  end

  it 'has one rule for a right on a prefix, with the groups of all roles' do
    other = 'ou=other,ou=x,ou=instances,dc=simp'
    rules = access.rules([grant('a', %w[read]), grant('b', %w[read list write]), grant('c', %w[list]),
                          grant('d', %w[list], dn: other), grant('e', %w[write])])
    expect(rules.map { |rule| [rule[/ou=\w+/], rule[/(\w+)";/, 1], rule.scan(/cn=(\w)/).join] })
      .to eq([%w[ou=dev read abe], %w[ou=dev list c], %w[ou=dev write be], %w[ou=other list d]])
  end

  it 'escapes the folder in the filter' do
    rule = access.rules([grant('r', %w[write], dn: 'ou=a(b\\2C)')]).last
    expect(rule).to include('(target="ldap:///ou=a(b\\2C)")').and include('(!(entrydn=ou=a\\28b\\5c2C\\29))')
  end

  it 'refuses a DN that an ACI cannot contain' do
    ['ou=a"b', 'ou=*', 'ou=a?b', 'ou=a%41', "ou=a\nb", 'ou=a|b'].each do |dn|
      expect do
        access.rules([grant('r', %w[read], dn: dn)])
      end.to raise_error(Simpkv::InvalidError, /no access rules/), dn
      expect { access.rules([grant('r', %w[read], groups: [dn])]) }.to raise_error(Simpkv::InvalidError), dn
    end
  end

  describe 'the rules of a server' do
    let(:wanted) { access.rules([grant('r', %w[write])]) }
    let(:foreign) do
      ['(targetattr = "*")(version 3.0; acl "simpkv"; allow (all) userdn = "ldap:///cn=simpkv,dc=simp";)',
       wanted.first.sub('ou=x,', 'ou=y,'), wanted.first.sub('simpkv roles', 'roles'),
       wanted.first.sub(/\(target="[^"]+"\)/, ''), wanted.first.sub('ou=x,ou=instances', 'ou=z\\2Cou=x,ou=instances')]
    end

    it 'are recognised by their name and target' do
      expect(access.ours(foreign + wanted)).to eq(wanted)
      spelled = wanted.map { |rule| rule.sub('ou=x,', 'OU=x,').sub('(target=', '( target = ') }
      expect(access.ours(spelled)).to eq(spelled)
    end

    it 'need no change if they are as declared' do
      expect(access.changes(wanted.reverse + foreign, [grant('r', %w[write])])).to eq([])
      expect(access.ldif('dc=simp', access.changes(wanted, [grant('r', %w[write])]))).to eq('')
    end

    it 'are deleted in the spelling of the server, and added' do
      edited = wanted.first.sub('read,search', 'read, search')
      expect(access.changes([edited, *foreign], [grant('r', %w[read])]))
        .to eq([[:delete, 'aci', [edited]], [:add, 'aci', [wanted.first]]])
      expect(access.additions([edited, *foreign], [grant('r', %w[read])])).to eq([[:add, 'aci', [wanted.first]]])
      expect(access.changes([edited, *foreign], [])).to eq([[:delete, 'aci', [edited]]])
    end

    it 'change for the folders of one role, and leave those of others alone' do
      other = grant('other', %w[write], dn: 'ou=dev2,ou=environments,ou=x,ou=instances,dc=simp')
      changes = access.changes([], [grant('r', %w[write]), other]) do |rule|
        access.about?(rule, [grant('r', [])])
      end
      expect(changes).to eq([[:add, 'aci', wanted]])
      expect(access.changes(access.rules([other]), []) { |rule| access.about?(rule, [grant('r', [])]) }).to eq([])
    end

    it 'become LDIF' do
      edited = access.changes(["#{wanted.first} "], [grant('r', %w[read], groups: ['cn=ä'])])
      ldif = access.ldif('ou=simpkv,dc=simp', edited)
      changes = /delete: aci\naci: .*\n-\nadd: aci\naci:: [\w+=]+\n-\n/
      expect(ldif).to match(/\Adn: ou=simpkv,dc=simp\nchangetype: modify\n#{changes}\z/)
    end
  end
end
