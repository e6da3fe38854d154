# frozen_string_literal: true

require 'spec_helper'
require 'simpkv/access/ldap_rules/olc_access'

RSpec.describe Simpkv::Access::OlcAccess do
  subject(:access) do
    described_class.new(below: instance, roles_dn: 'ou=roles,dc=simp', layout: 'plain', attributes: %w[cn uid])
  end

  let(:instance) { 'ou=x,ou=instances,dc=simp' }
  let(:site) do
    ['to dn.subtree="ou=x,ou=instances,dc=simp" by dn.exact="cn=simpkv,dc=simp" write by * none', 'to * by * none']
  end

  def grant(role, prefix, rights, groups: ["cn=#{role},ou=roles,dc=simp"])
    dn = [*prefix.split('/').reverse.map { |name| "ou=#{name}" }, instance].join(',')
    Simpkv::Access::Grant.new(role: role, prefix: prefix, dn: dn, rights: rights, groups: groups)
  end

  # The rules without the ends of DNs.
  def outline(rules)
    rules.map { |rule| rule.gsub(',ou=environments,ou=x,ou=instances,dc=simp', '').gsub(',ou=roles,dc=simp', '') }
  end

  # @return [Array<String>] as slapd shows them
  def numbered(rules)
    rules.each_with_index.map { |rule, i| "{#{i}}#{rule}" }
  end

  # Applies changes as slapd does: one value after the other.
  def applied(values, changes)
    texts = values.map { |value| value.sub(/\A\{\d+\}/, '') }
    changes.each do |operation, _, list|
      list.each do |value|
        index, text = value.match(/\A\{(\d+)\}(.*)\z/).captures
        operation == :add ? texts.insert(index.to_i, text) : texts.delete_at(index.to_i)
      end
    end
    numbered(texts)
  end

  guard = 'to dn.subtree="ou=x,ou=instances,dc=simp" attrs=userPassword,cn,uid by * none'
  let(:guard) { guard }
  tree = 'to dn.subtree="ou=dev"'
  keys = %(#{tree} filter="(&(objectClass=simpkvEntry)(!(userPassword=*)))")
  folders = %(#{tree} filter="(&(objectClass=organizationalUnit)(!(userPassword=*)))")
  classes = 'attrs=objectClass val.regex="^(simpkvEntry|organizationalUnit|top)$"'
  write_values = "#{keys} attrs=entry,simpkvJsonValue WRITE"
  add_keys = ["#{keys} attrs=ou,simpkvKey =ARSCXD", "#{keys} #{classes} =ARSCXD"]
  {
    %w[read] => ["#{keys} READ", "#{tree} DISCLOSE"],
    %w[list] => ["#{keys} attrs=simpkvJsonValue DISCLOSE", "#{tree} READ"],
    %w[read list] => ["#{tree} READ"],
    %w[write] => [write_values, *add_keys, "#{keys} READ", "#{folders} attrs=children,entry =WD",
                  "#{folders} attrs=ou,simpkvKey =AD", "#{folders} #{classes} =AD", "#{tree} DISCLOSE"],
    %w[list write] => [write_values, *add_keys, "#{folders} attrs=children,entry WRITE",
                       "#{folders} attrs=ou,simpkvKey =ARSCXD", "#{folders} #{classes} =ARSCXD", "#{tree} READ"]
  }.each do |rights, rules|
    it "makes the rules of #{rights.join(' and ')}" do
      texts = rules.map do |rule|
        *target, level = rule.split
        [*target, 'by group="cn=r"', level.downcase, 'by * break'].join(' ')
      end
      expect(outline(access.rules([grant('r', 'environments/dev', rights)])))
        .to eq([*(guard if rights.include?('write')), *texts])
    end
  end

  # Such a rule would have stayed, as one of the site.
  it 'replaces the rule about attributes that it has made with another schema, or in an earlier version' do
    grants = [grant('r', 'globals', %w[write])]
    [guard.sub(',cn,uid', ''), guard.sub('cn', 'mail')].each do |old|
      values = numbered([old, *access.rules(grants).drop(1), *site])
      expect(applied(values, access.changes(values, grants))).to eq(numbered([*access.rules(grants), *site]))
    end
    changed = { 'userPassword,' => '', 'none' => 'read', 'userPassword' => 'userPasswordX' }
    other = numbered(changed.map { |from, to| guard.sub(from, to) })
    expect(access.others(other)).to eq(other)
  end

  it 'needs a setting of the database where somebody may write' do
    expect([%w[read list], %w[write]].map { |rights| access.settings([grant('r', 'globals', rights)]) })
      .to eq([{}, { 'olcAddContentAcl' => 'TRUE' }])
  end

  it 'knows the folders of the layout hex' do
    hex = described_class.new(below: instance, roles_dn: 'ou=roles,dc=simp', layout: 'hex', attributes: [])
    expect(hex.rules([grant('r', 'globals', %w[write])]).join).to include('(objectClass=simpkvFolder)')
  end

  it 'gives a prefix the roles of the prefixes around it, and puts it first' do
    rules = outline(access.rules([grant('a', 'environments/dev', %w[read list]),
                                  grant('b', 'environments/dev/app', %w[list]),
                                  grant('c', 'environments/dev2', %w[read list])]))
    expect(rules).to eq([
                          'to dn.subtree="ou=app,ou=dev" filter="(&(objectClass=simpkvEntry)(!(userPassword=*)))" ' \
                          'attrs=simpkvJsonValue by group="cn=a" read by group="cn=b" disclose by * break',
                          'to dn.subtree="ou=app,ou=dev" by group="cn=a" read by group="cn=b" read by * break',
                          'to dn.subtree="ou=dev2" by group="cn=c" read by * break',
                          'to dn.subtree="ou=dev" by group="cn=a" read by * break'
                        ])
  end

  it 'adds up the levels of a member of two roles of which none includes the other' do
    rules = outline(access.rules([grant('a', 'environments/dev', %w[write]), grant('b', 'environments/dev', %w[list])]))
    expect(rules).to include(
      "#{folders} attrs=children,entry by group=\"cn=b\" +rscxd continue by group=\"cn=a\" +wd continue " \
      'by group="cn=b" stop by group="cn=a" stop by * break'
    )
  end

  it 'writes DNs as they are, but quotes, which would end the text' do
    rule = access.rules([grant('a', 'globals', %w[list read], groups: ['cn=a\\,"\\"b\\\\,ou=roles,dc=simp'])]).first
    expect(rule).to include('by group="cn=a\\,\\22\\22b\\\\,ou=roles,dc=simp" read')
    expect(access.ours([rule])).to eq([rule])
  end

  describe 'the rules of a server' do
    let(:grants) { [grant('a', 'environments/dev', %w[write]), grant('b', 'globals/shared', %w[read])] }
    let(:wanted) { access.rules(grants) }

    it 'are recognised by their target and groups' do
      foreign = [*site, wanted.last.sub('ou=x,', 'ou=y,'), wanted.last.gsub('ou=roles', 'ou=groups'),
                 wanted.last.sub(/to dn.*? by/, 'to * by'), 'to attrs=userPassword by anonymous auth by * break']
      expect(access.ours(foreign + wanted)).to eq(wanted)
    end

    it 'are recognised after somebody has added identities, and deleted then' do
      edited = [wanted.last.sub(' by * break', ' by dn.exact="cn=root" write by * break'),
                wanted.last.sub('break', 'read'), wanted[1].sub(' by ', ' by users read by ')]
      expect(access.ours(edited + wanted)).to eq(edited + wanted)
      values = numbered(edited + wanted.drop(1) + site)
      expect(applied(values, access.changes(values, grants))).to eq(numbered(wanted + site))
    end

    it 'are those of the site if they name a group that simpkv has not made' do
      there = described_class.new(below: instance, roles_dn: 'ou=roles,dc=simp', layout: 'plain', attributes: [],
                                  foreign: ['CN=a, ou=roles,dc=simp'])
      expect(there.ours(numbered(wanted))).to eq(numbered(wanted).reject { |rule| rule.include?('"cn=a,') })
      bound = there.rules([grant('b', 'globals/b', %w[read], groups: %w[cn=b,ou=roles,dc=simp cn=a,ou=roles,dc=simp])])
      expect(there.ours(bound)).to eq(bound)
    end

    it 'need no change if they are as declared, also in other spellings' do
      expect(access.changes(numbered(wanted + site), grants)).to eq([])
      spelled = numbered(wanted + site).map do |rule|
        rule.gsub(' by ', '  by ').gsub('by group=', 'by group/groupOfNames/member.exact=')
            .gsub('* break', '* +0 break').gsub(/filter="([^"]+)"/, 'filter=\1')
      end
      expect(access.changes(spelled.reverse, grants)).to eq([])
    end

    let(:declared) do
      [[], grants, grants.first(1), [grant('a', 'environments/dev', %w[read]), *grants.drop(1)],
       [*grants, grant('c', 'environments/dev/app', %w[read list])]]
    end

    it 'change one by one, before the rules of the site' do
      declared.permutation(2) do |before, after|
        values = numbered(access.rules(before) + site)
        expect(applied(values, access.changes(values, after))).to eq(numbered(access.rules(after) + site))
      end
    end

    it 'are added in their order before old ones go, which then need deletions only' do
      declared.permutation(2) do |before, after|
        values = numbered(access.rules(before) + site)
        both = applied(values, access.additions(values, after))
        rules = both.map { |value| value.sub(/\A\{\d+\}/, '') }
        expect([rules & access.rules(after), rules - access.rules(after)])
          .to eq([access.rules(after), access.rules(before) - access.rules(after) + site])
        rest = access.changes(both, after)
        expect([rest.map(&:first) - [:delete], applied(both, rest)]).to eq([[], numbered(access.rules(after) + site)])
      end
    end

    it 'are not added apart if their order is another one' do
      expect(access.additions(numbered(wanted.rotate + site), grants)).to be_nil
    end

    it 'are made again if their order is another one, or rules of the site are between them' do
      [[wanted.rotate, site], [wanted.first(2), site, wanted.drop(2)], [site, wanted],
       [wanted, wanted, site]].each do |order|
        values = numbered(order.flatten)
        expect(applied(values, access.changes(values, grants))).to eq(numbered(wanted + site))
      end
    end

    it 'leave the others alone' do
      expect(access.changes(numbered(wanted + site), grants.last(1)).map(&:first)).to eq(%i[delete])
    end

    it 'change role by role to the same as at once, in any order' do
      grants = [grant('a', 'environments', %w[read list]), grant('b', 'environments/dev', %w[write]),
                grant('c', 'environments/dev/app', %w[list]), grant('d', 'globals', %w[write list])]
      100.times do
        old = grants.sample(3).map { |each| each.dup.tap { |copy| copy.rights = [%w[read], %w[list write]].sample } }
        before = numbered(access.rules(old).reject { rand < 0.2 } + site)
        after = grants.shuffle.inject(before) do |values, one|
          applied(values, access.changes(values, grants) { |rule| access.about?(rule, [one]) })
        end
        expect(after).to eq(applied(before, access.changes(before, grants)))
      end
    end

    it 'leave the rules of other roles alone' do
      grants = [grant('a', 'globals/a', %w[read]), grant('b', 'globals/b', %w[read])]
      values = numbered(access.rules(grants.map { |each| each.dup.tap { |copy| copy.rights = %w[list] } }) + site)
      after = applied(values, access.changes(values, grants) { |rule| access.about?(rule, [grants.last]) })
      expect(after.join).to include(*access.rules([grants.last])).and include(values.first[/\}(.*)/, 1])
    end
  end
end
