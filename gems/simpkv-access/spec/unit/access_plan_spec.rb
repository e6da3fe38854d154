# frozen_string_literal: true

require_relative '../../../../spec/spec_helper'
require 'simpkv/access/declarations'
require 'simpkv/access/plan'
require 'simpkv/access/state'

RSpec.describe Simpkv::Access::Plan do
  let(:names) { Simpkv::Access::Names.new('ou=users,dc=simp', 'ou=roles,dc=simp') }
  let(:declared) do
    Simpkv::Access::Declarations.new(
      'users' => { 'one' => { 'password' => 'file:/one' }, 'two' => { 'password' => 'file:/two' } },
      'roles' => { 'dev' => [{ 'prefixes' => %w[environments/dev globals/shared], 'rights' => %w[read list] }] },
      'bindings' => { 'a' => { 'users' => %w[one two], 'roles' => %w[dev] } }
    )
  end
  let(:empty) { Simpkv::Access::State::Snapshot.new(nil, {}, {}, {}, []) }

  # The state after these were applied.
  let(:applied) do
    state = empty.with(declared)
    state.unique_id = 'directory'
    (state.users.to_a + state.roles.to_a).each { |name, document| document['uid'] = "uid of #{name}" }
    state.roles['dev'].merge!('status' => 'ours', 'added' => [names.user('one'), names.user('two')])
    state
  end

  # The directory after that.
  let(:built) do
    members = [names.role('dev'), names.user('one'), names.user('two')]
    observed('users' => { 'one' => 'uid of one', 'two' => 'uid of two' },
             'roles' => { 'dev' => ['uid of dev', members] }, 'folders' => %w[environments/dev globals/shared])
  end

  def observed(parts = {})
    users = parts.fetch('users', {}).transform_values { |uid| described_class::Entry.new(uid, [], '1') }
    roles = parts.fetch('roles', {}).transform_values { |uid, members| described_class::Entry.new(uid, members, '1') }
    described_class::Observed.new('directory', users, roles, parts.fetch('folders', []),
                                  { 'one' => :accepted, 'two' => :accepted }, {},
                                  ['cn=none,dc=simp'])
  end

  def plan(state, seen, rules: { add: [], delete: [] })
    described_class.new(state, seen, names, &(rules.is_a?(Hash) ? proc { rules } : rules))
  end

  def acts(plan)
    plan.steps.map { |step| [step.act, step.name].compact.join(' ') }
  end

  # @return [Snapshot] in which nothing is shared with the given one
  def changed(state, &block)
    Marshal.load(Marshal.dump(state)).tap(&block)
  end

  it 'makes entries and folders, gives rights, and then adds members' do
    steps = plan(empty.with(declared), observed, rules: { add: %w[rule], delete: [] })
    expect(acts(steps)).to eq(['create one', 'password one', 'create two', 'password two', 'create dev',
                               'folder environments/dev', 'folder globals/shared', 'rules', 'members dev'])
    expect(steps.steps.last.data).to eq(add: [names.user('one'), names.user('two')], delete: [])
  end

  it 'has no step when the directory is as declared' do
    expect([plan(applied, built), plan(applied.with(declared), built)].map { |each| acts(each) }).to eq([[], []])
  end

  it 'grants the rights of a role to the role, and to the groups that are bound to it' do
    more = { 'bindings' => { 'ops' => { 'groups' => ['cn=ops,dc=simp'], 'roles' => ['dev'] } } }
    state = applied.with(Simpkv::Access::Declarations.new(more))
    expect(plan(state, built).grants.map { |grant| grant.to_h.compact.values })
      .to eq([['dev', 'environments/dev', %w[list read], [names.role('dev'), 'cn=ops,dc=simp']],
              ['dev', 'globals/shared', %w[list read], [names.role('dev'), 'cn=ops,dc=simp']]])
  end

  it 'warns about a group without an entry' do
    groups = { 'bindings' => { 'b' => { 'groups' => ['cn=none,dc=simp', 'cn=ops,dc=simp'], 'roles' => %w[dev] } } }
    expect(plan(applied.with(Simpkv::Access::Declarations.new(groups)), built).warnings)
      .to eq(["bindings.b.groups: there is no entry 'cn=none,dc=simp'"])
  end

  it 'knows a member in another spelling' do
    built.roles['dev'].member.map! { |dn| dn.upcase.gsub(',', ' , ') }
    expect(acts(plan(applied, built))).to eq([])
  end

  it 'mends a directory that was changed by hand' do
    built.roles['dev'].member.delete(names.user('one'))
    built.users.delete('two')
    built.folders.delete('globals/shared')
    steps = plan(applied, built, rules: { add: %w[edited], delete: %w[edit] })
    expect(acts(steps)).to eq(['create two', 'password two', 'folder globals/shared', 'rules', 'members dev'])
    expect(steps.steps.last.data).to eq(add: [names.user('one')], delete: [])
  end

  it 'sets a password that the server refuses, and warns about one that cannot be read' do
    built.passwords.update('one' => :refused, 'two' => '/two cannot be read')
    steps = plan(applied, built)
    expect(acts(steps)).to eq(['password one'])
    expect(steps.warnings).to eq(['users.two.password: /two cannot be read: it is not known whether the server has it'])
  end

  it 'needs the password of a user that it is to create' do
    seen = observed
    seen.passwords['two'] = '/two cannot be read'
    expect(plan(empty.with(declared), seen).conflicts).to eq(['users.two.password: /two cannot be read'])
  end

  { 'has no UID' => [nil, /the entry 'uid=one,ou=users,dc=simp' has no UID of simpkv/],
    'has the UID of another declaration' => ['other',
                                             /has the UID of another declaration/] }.each do |what, (uid, words)|
    it "changes nothing when the entry of a user #{what}" do
      built.users['one'].uid = uid
      steps = plan(applied, built, rules: { add: %w[rule], delete: [] })
      expect([acts(steps), steps.conflicts]).to match([[], [words]])
      gone = applied.without([%w[users one], %w[bindings a]])
      expect(plan(gone, built).conflicts).to match([words])
    end
  end

  it 'changes nothing when a new user has the name of an entry that exists' do
    expect(plan(empty.with(declared), observed('users' => { 'one' => nil })).conflicts)
      .to match([/user one: the entry .* has no UID of simpkv/])
  end

  it 'changes nothing when the entry of a role was replaced' do
    built.roles['dev'].uid = nil
    expect(plan(applied, built).conflicts).to match([/role dev: the entry 'cn=dev,ou=roles,dc=simp' has no UID/])
  end

  it 'changes nothing in another directory' do
    built.unique_id = 'other'
    steps = plan(applied, built, rules: { add: %w[rule], delete: [] })
    expect([acts(steps), steps.conflicts])
      .to match([[], [/another directory: .* unique id 'other', and the state is that of .* 'directory'/]])
  end

  it 'changes nothing when a binding names what is not declared, or is to be deleted' do
    binding = { 'bindings' => { 'b' => { 'users' => %w[none], 'roles' => %w[nothing] } } }
    expect(plan(applied.with(Simpkv::Access::Declarations.new(binding)), built).conflicts)
      .to match([/\Abindings\.b\.users: the user 'none' is not declared/, /\Abindings\.b\.roles: the role 'nothing'/])
    expect(plan(applied.without([%w[users one]]), built).conflicts)
      .to eq(["bindings.a.users: the user 'one' is not declared, or is to be deleted"])
  end

  describe 'a role that existed before' do
    let(:seen) { observed('roles' => { 'dev' => [nil, ['cn=boss,dc=simp']] }) }
    let(:existing) { changed(applied) { |state| state.roles['dev']['status'] = 'existing' } }

    it 'is marked, gets members, and no rules' do
      steps = plan(empty.with(declared), seen)
      expect(acts(steps).grep(/dev/)).to eq(['keep dev', 'members dev'])
      expect([steps.grants, steps.warnings]).to match([[], [/roles\.dev: it existed before, so its rights stay/]])
    end

    it 'loses only the members that bindings have added when it is deleted' do
      seen.roles['dev'].member.push(names.user('one'), names.user('two'))
      seen.users.update(built.users)
      steps = plan(existing.without([%w[roles dev], %w[bindings a]]), seen)
      expect(acts(steps)).to eq(['members dev', 'forget dev'])
      expect(steps.steps.first.data).to eq(add: [], delete: [names.user('one'), names.user('two')])
    end

    it 'is not made again when it is gone' do
      seen.roles.clear
      seen.users.update(built.users)
      expect(acts(plan(existing, seen))).to eq([])
    end
  end

  it 'removes a member when the last binding that wants it is gone, and never one that no binding added' do
    built.roles['dev'].member << names.user('hand')
    more = Simpkv::Access::Declarations.new('bindings' => { 'b' => { 'users' => %w[two], 'roles' => %w[dev] } })
    steps = plan(applied.with(more).without([%w[bindings a]]), built).steps
    expect(steps.map(&:data)).to eq([{ add: [], delete: [names.user('one')] }])
  end

  describe 'of a user who moves from one role to another' do
    let(:roles) { { 'new' => [{ 'prefixes' => %w[globals/shared], 'rights' => %w[read] }] } }
    let(:moved) do
      bindings = declared.bindings.transform_values { |binding| binding.merge('roles' => %w[new]) }
      applied.with(Simpkv::Access::Declarations.new('roles' => roles, 'bindings' => bindings))
    end
    let(:rules) { { add: %w[new], delete: %w[old], additions: %w[change] } }

    it 'adds rules and members before others go' do
      steps = plan(moved, built, rules: rules)
      expect(acts(steps)).to eq(['create new', 'rules', 'members new', 'members dev', 'rules'])
      first, *, last = steps.steps.drop(1).map(&:data)
      expect([first, last]).to eq([rules.merge(delete: [], changes: %w[change]), rules.merge(add: [], later: true)])
    end

    it 'deletes the old role at the end' do
      expect(acts(plan(moved.without([%w[roles dev]]), built, rules: rules)))
        .to eq(['create new', 'rules', 'members new', 'rules', 'delete dev', 'forget dev'])
    end

    it 'changes all rules at once if they cannot be added apart, or not by the identity' do
      [rules.merge(by_hand: true), rules.merge(additions: nil)].each do |at_once|
        expect(acts(plan(moved, built, rules: at_once)))
          .to eq(['create new', 'rules', 'members new', 'members dev'])
      end
    end
  end

  it 'deletes in reverse order' do
    gone = applied.without([%w[users one], %w[users two], %w[roles dev], %w[bindings a]])
    steps = plan(gone, built, rules: ->(grants, _) { { add: [], delete: grants.empty? ? %w[rule] : [] } })
    expect(acts(steps))
      .to eq(['rules', 'delete dev', 'forget dev', 'delete one', 'forget one', 'delete two', 'forget two'])
  end

  it 'does the rest after a crash at any step' do
    state = changed(empty.with(declared)) do |copy|
      (copy.users.to_a + copy.roles.to_a).each { |name, document| document['uid'] = "uid of #{name}" }
      copy.roles['dev'].update('status' => 'new', 'added' => [])
    end
    seen = observed('users' => { 'one' => 'uid of one' }, 'roles' => { 'dev' => ['uid of dev', [names.role('dev')]] })
    seen.passwords['one'] = :refused
    expect(acts(plan(state, seen)))
      .to eq(['password one', 'create two', 'password two', 'adopt dev', 'folder environments/dev',
              'folder globals/shared', 'members dev'])
  end

  it 'deletes what a complete declaration lacks' do
    only = Simpkv::Access::Declarations.new('users' => { 'two' => { 'password' => 'file:/two' } })
    expect(acts(plan(applied.with(only, prune: true), built)))
      .to eq(['delete dev', 'forget dev', 'delete one', 'forget one'])
    expect(acts(plan(applied.with(only), built))).to eq([])
  end

  it 'warns about a role that may write the state' do
    prefixes = %w[globals globals/estate globals/estate/access/users globals/estate/facts]
    roles = prefixes.each_with_index.map do |prefix, number|
      ["r#{number}", [{ 'prefixes' => [prefix], 'rights' => %w[write] }]]
    end
    state = empty.with(Simpkv::Access::Declarations.new('roles' => roles.to_h))
    expect(plan(state, observed).warnings.map { |text| text[/\Aroles\.r\d/] }).to eq(%w[roles.r0 roles.r1 roles.r2])
  end

  # The warnings of the user a.b, as their texts begin with "users.a.", were those of the user a, too.
  it 'has the warnings of each user, role and section' do
    users = %w[a a.b].to_h { |name| [name, { 'password' => "file:/#{name}" }] }
    state = empty.with(Simpkv::Access::Declarations.new('users' => users))
    known = observed
    users.each_key { |name| known.users[name] = described_class::Entry.new(nil, [], nil) }
    known.passwords.update('a.b' => '/a.b cannot be read')
    found = plan(state, known, rules: { add: [], delete: [], warnings: [[nil, 'roles: x'], ['r', 'roles.r: y']] })
    expect([%w[users a], %w[users a.b], %w[roles r], %w[roles q]].map { |each| found.warnings_of(*each) })
      .to eq([[], found.warnings.first(1), ['roles: x', 'roles.r: y'], ['roles: x']])
  end

  it 'takes less than 5 s for 1,000 users, 200 roles and 2,000 bindings' do
    users = Array.new(1000) { |n| ["u#{n}", { 'uid' => n.to_s, 'password' => 'file:/x' }] }.to_h
    bindings = Array.new(2000) do |n|
      ["b#{n}", { 'users' => ["u#{n / 2}"], 'groups' => [], 'roles' => ["r#{n / 10}"] }]
    end
    members = bindings.group_by { |_, each| each['roles'].first }
                      .transform_values { |all| all.map { |_, each| names.user(each['users'].first) }.uniq.sort }
    roles = Array.new(200) do |n|
      ["r#{n}", { 'uid' => n.to_s, 'grants' => { "globals/r#{n}" => %w[read] }, 'status' => 'ours',
                  'added' => members["r#{n}"] }]
    end
    state = Simpkv::Access::State::Snapshot.new('directory', users, roles.to_h, bindings.to_h, [])
    seen = observed('users' => users.transform_values { |user| user['uid'] },
                    'roles' => roles.to_h { |name, role| [name, [role['uid'], role['added']]] },
                    'folders' => roles.flat_map { |_, role| role['grants'].keys })
    before = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    expect(acts(plan(state, seen))).to eq([])
    expect(Process.clock_gettime(Process::CLOCK_MONOTONIC) - before).to be < 30
  end
end
