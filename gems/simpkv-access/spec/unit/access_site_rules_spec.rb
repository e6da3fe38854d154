# frozen_string_literal: true

require 'simpkv'
require 'simpkv/access/ldap_rules/site_rules'

RSpec.describe Simpkv::Access::SiteRules do
  # @return [Integer, nil] the number of the rule that lets anybody read keys
  def opening(*rules)
    values = rules.each_with_index.map { |rule, number| "{#{number}}#{rule}" }
    values.index(described_class.new(values, 'ou=site,ou=instances,OU=simpkv, dc=simp').opening)
  end

  tree = 'to dn.subtree="ou=simpkv,dc=simp"'
  debian = ['to attrs=userPassword by self write by anonymous auth by * none',
            'to attrs=shadowLastChange by self write by * read', 'to * by * read']

  { "Debian's" => [debian, 2],
    "Debian's behind a rule that closes the tree" => [["#{tree} by * none", *debian], nil],
    "Debian's behind a rule for one identity and nobody else" => [["#{tree} by dn.exact=\"cn=a b\" write", *debian],
                                                                  nil],
    "Debian's behind a rule for a replica" => [['to * by dn.exact="cn=by * none" read by * break', *debian], 3],
    "Debian's behind a rule that closes another tree" => [['to dn.subtree="ou=kv,dc=simp" by * none', *debian], 3],
    "Debian's behind a rule that closes one attribute" => [["#{tree} attrs=ou by * none", *debian], 3],
    "Debian's behind a rule that closes the base entry alone" => [["#{tree.sub('subtree', 'base')} by * none",
                                                                   *debian], 3],
    'one for all who have bound' => [["#{tree} by users read by * none"], 0],
    'one for all who have not' => [["#{tree} by users none by anonymous search"], 0],
    'one that passes some on' => [["#{tree} by users break by * none", 'to * by users =cs'], 1],
    'one for a part of the tree' => [['to dn.children="ou=a,ou=site,ou=instances,ou=simpkv,dc=simp" by * +r'], 0],
    'one for the attribute of values' => [['to attrs=simpkvJsonValue by * read'], 0],
    'one with a pattern' => [['to dn.regex="^.*,dc=simp$" by * read'], 0],
    'one for accounts' => [['to dn.subtree="ou=people,dc=simp" by * read', 'to * by self write'], nil],
    'none' => [[], nil] }.each do |what, (rules, number)|
    it "finds the rule that lets anybody read keys, with these rules: #{what}" do
      expect(opening(*rules)).to eq(number)
    end
  end
end
