# frozen_string_literal: true

require_relative '../../../../spec/spec_helper'
require 'simpkv/access/declarations'
require 'simpkv/document/plain_yaml'

RSpec.describe Simpkv::Access::Declarations do
  def declared(yaml, *more)
    described_class.new(Simpkv::PlainYaml.parse(yaml, strict: true), *more)
  end

  def problems(yaml)
    declared(yaml).problems
  end

  let(:example) { declared(<<~YAML) }
    users:
      compiler-dev: { password: 'file:/etc/simpkv/compiler-dev.pw' }
      dashboard: { password: 'key:secrets/globals/access/dashboard' }
    roles:
      dev-writers:
        - { prefixes: [globals/shared, environments/dev], rights: [read, list] }
        - { prefixes: [environments/dev], rights: [write] }
      readers:
        - { prefixes: ['environments/*'], rights: [read] }
    bindings:
      dev: { users: [compiler-dev], groups: ['cn=ops,ou=groups,dc=simp'], roles: [dev-writers] }
      views: { users: [dashboard], roles: [readers] }
  YAML

  it 'has users, roles and bindings, with the rights by prefix' do
    expect(example.problems).to eq([])
    expect(example.users).to eq('compiler-dev' => { 'password' => 'file:/etc/simpkv/compiler-dev.pw' },
                                'dashboard' => { 'password' => 'key:secrets/globals/access/dashboard' })
    expect(example.roles)
      .to eq('dev-writers' => { 'environments/dev' => %w[list read write], 'globals/shared' => %w[list read] },
             'readers' => { 'environments/*' => %w[read] })
    expect(example.bindings['dev'])
      .to eq('users' => %w[compiler-dev], 'groups' => ['cn=ops,ou=groups,dc=simp'], 'roles' => %w[dev-writers])
  end

  it 'takes write for a right that implies read, because a put reads first' do
    expect(declared('roles: {a: [{prefixes: [globals], rights: [write]}]}').roles['a']['globals']).to eq(%w[read write])
  end

  it 'is the same after an export' do
    exported = described_class.data(example.users, example.roles, example.bindings)
    again = described_class.new(exported)
    expect(again.problems).to eq([])
    expect([again.users, again.roles, again.bindings]).to eq([example.users, example.roles, example.bindings])
  end

  it 'may declare nothing' do
    expect(['', '{}', 'users: {}', 'roles:'].map { |yaml| declared(yaml) }).to all(be_empty)
  end

  {
    'roles: {a: [{prefixes: [globals/x, elsewhere], rights: [read]}]}' =>
      /\Aroles\.a\[0\]\.prefixes\[1\]: expected a folder: globals, /,
    'roles: {a: [{prefixes: [environments/dev/../x], rights: [read]}]}' =>
      %r{\Aroles\.a\[0\]\.prefixes\[0\]: .*'/\.\./'},
    "roles: {a: [{prefixes: ['environments/d*'], rights: [read]}]}" =>
      /\Aroles\.a\[0\]\.prefixes\[0\]: expected a folder/,
    'roles: {a: [{prefixes: [globals/Up], rights: [read]}]}' => /\Aroles\.a\[0\]\.prefixes\[0\]: .*unsupported/,
    'roles: {a: [{prefixes: [], rights: [read]}]}' => /\Aroles\.a\[0\]\.prefixes: expected a list that is not empty/,
    'roles: {a: [{prefixes: [globals], rights: [own]}]}' =>
      /\Aroles\.a\[0\]\.rights\[0\]: expected one of read, list, write\z/,
    'roles: {a: [{prefixes: [globals], rights: read}]}' => /\Aroles\.a\[0\]\.rights: expected a list/,
    'roles: {a: {}}' => /\Aroles\.a: expected a list of Hashes/,
    'roles: {a: [{prefix: [globals], prefixes: [globals], rights: [read]}]}' =>
      /\Aroles\.a\[0\]: unknown member 'prefix': did you mean 'prefixes'\?/,
    'bindings: {a: {users: [x]}}' => /\Abindings\.a\.roles: expected a list that is not empty: names of roles/,
    'bindings: {a: {roles: [x]}}' => /\Abindings\.a: it has neither users nor groups/,
    'bindings: {a: {groups: [ops], roles: [x]}}' => /\Abindings\.a\.groups\[0\]: expected one of DNs of groups/,
    'users: []' => /\Ausers: expected a Hash, by names/,
    "users: {'a=b,c': {password: 'file:/x'}}" => /\Ausers: a name is not valid: expected up to 64 lower-case letters/,
    'user: {}' => /\Aunknown member 'user': did you mean 'users'\?/,
    '[]' => /\Aexpected a Hash with users, roles and bindings/
  }.each do |yaml, words|
    it("refuses #{yaml} with the place") { expect(problems(yaml)).to match([words]) }
  end

  it 'refuses a password in place of a reference, and never quotes it' do
    ['hunter2', 'file:hunter2', 'key:hunter2', 'key:hunter2/app', '[hunter2]', '{hunter2: hunter2}', '2'].each do |text|
      found = problems("users: {a: {password: #{text}}}")
      expect(found).to match([/\Ausers\.a\.password: expected a reference, 'file:/])
      expect(found.join).not_to include('hunter2')
    end
  end

  it 'never quotes the name of an unknown member of a user, which may be a password' do
    expect(problems("users: {a: {hunter2: 1, password: 'file:/a'}}"))
      .to eq(['users.a: unknown member: expected password'])
    expect(problems("users: {a: {passwort: 'file:/a'}}"))
      .to include("users.a: unknown member: did you mean 'password'?")
  end

  it 'names all problems' do
    expect(problems('{users: {a: {}, b: {}}, roles: {c: 1}}').map { |text| text[/\A[^:]+/] })
      .to eq(%w[users.a.password users.b.password roles.c])
  end

  it 'takes capital letters for a backend whose keys may have them' do
    yaml = 'roles: {a: [{prefixes: [globals/Up], rights: [read]}]}'
    expect(declared(yaml, true).problems).to eq([])
  end
end
