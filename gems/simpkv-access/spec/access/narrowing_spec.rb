# frozen_string_literal: true

require_relative 'access_helper'

RSpec.describe 'simpkv access --narrow-vlv, on 389-DS as it is installed', :ds389, needs: :cext do
  include_context 'with access control', AccessServers::Ds, 'hex', views: true

  before(:context) do
    @shipped = feature_rules(directory)
    directory.permit
  end

  after { replace_feature_rules(@shipped) }

  def feature
    'oid=2.16.840.1.113730.3.4.9,cn=features,cn=config'
  end

  def feature_rules(server)
    server.entry(feature, 'aci').fetch('aci', [])
  end

  def replace_feature_rules(rules)
    directory.modify("dn: #{feature}\nchangetype: modify\nreplace: aci\n#{rules.map { |rule| "aci: #{rule}\n" }.join}")
  end

  # @return [Hash] what the store says about the rules of servers
  def stored
    JSON.parse(admin.get('globals/estate/access/servers')).fetch('value')
  end

  # @return [Hash{String => Hash}] the finding about hidden values of doctor, by identity
  def findings
    { 'administrator' => directory.class::ROOT_DN, 'compiler' => DirectoryServer::USER_DN }.transform_values do |dn|
      backends['default'] = backends['default'].merge('admin_dn' => dn)
      configure(config)
      JSON.parse(simpkv('doctor', '--read-only', '-o', 'json').out)
          .find { |finding| finding['what'] == 'hidden values' }
    end
  end

  # A user without roles found out each value by counting, with one request for each bit.
  it 'finds that users without rights find out values, closes this, and opens it again' do
    access!('apply', file)
    expect(access('status', '--verify').to_a)
      .to match([/a user without roles: 'globals': may find out values.*389-DS counts and compares/m, '', 1])
    expect(access('plan').to_a).to match(['', %r{389-DS counts.*--narrow-vlv.*ldap:///all}, 0])
    expect(access('plan', '--narrow-vlv').to_a).to match([/^- server-wide rule of ldapi:.*all.*its access log/m, '', 1])
    expect(access!('apply', '--narrow-vlv')).to match(/^- server-wide rule of ldapi:/)
    expect([feature_rules(directory), stored])
      .to eq([[], { 'narrow' => true, 'removed' => { directory.uri => @shipped } }])
    expect(access('status', '--verify').to_a).to match([/^server +ldapi\S+ +closed/, '', 0])
    expect([access('plan'), access('apply', '--narrow-vlv')].map(&:to_a)).to eq([['', '', 0]] * 2)
    expect(access!('delete', '--narrow-vlv')).to match(/^\+ server-wide rule of ldapi:/)
    expect([feature_rules(directory), stored]).to eq([@shipped, { 'narrow' => false, 'removed' => {} }])
  end

  it 'finds out values as a user of other folders, too' do
    access!('apply', file('users' => declared['users'].slice('one'),
                          'roles' => declared['roles'].merge('ops' => [{ 'prefixes' => %w[globals/ops],
                                                                         'rights' => %w[read] }]),
                          'bindings' => declared['bindings'].slice('devs')))
    expect(access('status', '--verify').out).to include("user one: 'globals/ops': may find out values")
  end

  it 'deletes the rule again when somebody has put it back, and leaves rules for some identities' do
    narrow = @shipped.first.sub('ldap:///all', 'ldap:///uid=book,dc=simp')
    access!('apply', file)
    access!('apply', '--narrow-vlv')
    replace_feature_rules([narrow, *@shipped])
    expect(access('status').to_a).to match([/^server +\S+ +open +.*389-DS counts/, '', 1])
    access!('apply')
    expect(feature_rules(directory)).to eq([narrow])
    access!('delete', '--all')
    expect(feature_rules(directory)).to match_array([narrow, *@shipped])
  end

  def rule(who)
    %[(targetattr != "aci")(version 3.0; acl "views"; allow (read, search) #{who};)]
  end

  # Only ldap:///all and ldap:///anyone counted as open.
  it 'calls no server closed that has a rule which may be for everybody' do
    access!('apply', file)
    access!('apply', '--narrow-vlv')
    ['userdn != "ldap:///uid=book,dc=simp"', 'ip = "*"', 'userdn = "ldap:///uid=*,ou=users,dc=simp"'].each do |who|
      replace_feature_rules([rule(who)])
      expect([who, *access('status').to_a])
        .to match([who, /^server +\S+ +unknown .*not known who.*#{Regexp.escape(who)};\) of 'oid=/, '', 1])
    end
    expect(findings.fetch('administrator')).to include('state' => 'unknown')
  end

  it 'looks at the rules of the entries above, and asks for no view that could crash the server' do
    replace_feature_rules([])
    change = ->(act) { "dn: cn=config\nchangetype: modify\n#{act}: aci\naci: #{rule('userdn = "ldap:///all"')}\n" }
    directory.modify(change.call('add'))
    access!('apply', file)
    expect(access('plan').err).to match(/not known who may use .* of 'cn=config' may permit it/)
    expect(access('status', '--verify').out).to include("a user without roles: 'globals': may find out values")
    expect(findings.fetch('administrator')).to include('state' => 'unknown')
  ensure
    directory.modify(change.call('delete'))
  end

  it 'names the indexes that are for such views' do
    place = 'cn=people,cn=userroot,cn=ldbm database,cn=plugins,cn=config'
    directory.add("dn: #{place}\nobjectClass: vlvSearch\nvlvBase: dc=simp\nvlvScope: 2\nvlvFilter: (uid=*)\n\n" \
                  "dn: cn=by name,#{place}\nobjectClass: vlvIndex\nvlvSort: uid\n")
    expect(JSON.parse(access('plan', '--narrow-vlv', '-o', 'json').out)['steps'])
      .to match([{ 'act' => 'narrow', 'name' => directory.uri, 'add' => [], 'delete' => @shipped,
                   'used_by' => [a_string_including("'cn=by name,cn=people,")] }])
  ensure
    directory.delete_tree(place)
  end

  # The rules are not replicated.
  it 'closes each server of the backend' do
    other = directory.class.new('hex', views: true)
    other.start
    backends['default']['ldap_uri'] = "#{directory.uri} #{other.uri}"
    backends['default']['write_uri'] = directory.uri
    access!('apply', '--narrow-vlv')
    expect([directory, other].map { |server| feature_rules(server) }).to eq([[], []])
    access!('delete', '--narrow-vlv')
    expect([directory, other].map { |server| feature_rules(server) }).to eq([@shipped] * 2)
    other.stop_serving
    expect(access('plan').err).to match(/#{other.uri}: it is not known who may use virtual list views/)
    expect(access('apply', '--narrow-vlv').to_a).to match([/^- server/, /#{other.uri}: it is not known who may use/, 1])
  ensure
    other&.stop
  end

  # The first failure ended each apply, and the servers behind it stayed as they were.
  it 'opens the servers that answer, and forgets one that is gone when the backend no longer names it' do
    other = directory.class.new('hex', views: true)
    other.start
    backends['default'].merge!('ldap_uri' => "#{directory.uri} #{other.uri}", 'write_uri' => directory.uri)
    # The state has the other server first.
    [[], @shipped].each do |rules|
      replace_feature_rules(rules)
      access!('apply', '--narrow-vlv')
    end
    other.stop_serving
    expect(access('delete', '--narrow-vlv').to_a)
      .to match([/\A\+ server-wide rule of #{directory.uri}: .*\n\z/, /#{other.uri}: .* were not put back: .*again/, 1])
    expect([feature_rules(directory), stored['removed']]).to eq([@shipped, { other.uri => @shipped }])
    expect(access('apply').to_a).to match(['', /#{other.uri}: .* were not put back/, 1])
    backends['default']['ldap_uri'] = directory.uri
    configure(config)
    expect(access('apply').to_a)
      .to match(['', /#{other.uri}: .*; simpkv forgets them.*: #{Regexp.escape(@shipped.first)}/, 0])
    expect([stored['removed'], access('apply').code]).to eq([{}, 0])
  ensure
    other&.stop
  end

  it 'tells an administrator who may not change the rule to whom to turn' do
    backends['default']['admin_dn'] = AccessServers::ADMIN_DN
    access!('apply', file)
    expect(access('plan').err).to match(/389-DS counts.*let an administrator of the server load/)
    expect(access('apply', '--narrow-vlv').to_a).to match(['', /389-DS counts.*let an administrator/, 1])
  end

  # It was refused: a random password had two categories of characters. The Directory Manager may set any.
  it 'tries a user without roles where the server checks the syntax of passwords' do
    directory.modify("dn: cn=config\nchangetype: modify\nreplace: passwordCheckSyntax\npasswordCheckSyntax: on\n")
    backends['default']['admin_dn'] = AccessServers::ADMIN_DN
    %w[one two].each { |name| password_file(name, "Accepted 1 #{name.reverse}") }
    access!('apply', file)
    expect(access('status', '--verify').to_a).to match([/a user without roles: 'globals': may find out values/, '', 1])
  ensure
    directory.modify("dn: cn=config\nchangetype: modify\nreplace: passwordCheckSyntax\npasswordCheckSyntax: off\n")
  end

  it 'is found by doctor as any identity, until it is closed' do
    admin.put('globals/k', '{"value":1}')
    expect(findings.values).to all(include('state' => 'problem', 'why' => /389-DS counts/, 'fix' => /--narrow-vlv/))
    replace_feature_rules([])
    expect(findings.values).to all(include('state' => 'ok'))
  end

  it 'is closed by the rules that schema prints' do
    directory.modify(simpkv!('schema', '--server', '389ds', '--form', 'access')[/^dn: oid=.*/m])
    expect(feature_rules(directory)).to eq([])
  end
end
