# frozen_string_literal: true

require_relative '../puppet_helper'

# Tests the functions that write, for a node that runs in noop mode.
RSpec.describe "The option 'noop_writes'" do
  let(:world) { PuppetWorld.new(hiera: { 'backends' => { 'default' => { 'type' => 'memory', 'id' => 'noop' } } }) }
  let(:stored) { MemoryStore.entries('memory/noop') }

  before { world.call('simpkv::put', 'a/there', 'old', { 'm' => 1 }) }

  after do
    world.close
    MemoryStore.clear
  end

  def keys
    stored.compact.transform_values { |document| JSON.parse(document)['value'] }
  end

  # Compiles a manifest for a node.
  def compile(manifest, noop: true)
    world.compile(manifest, facts: { 'clientnoop' => noop })
  end

  skipping = "{ 'noop_writes' => 'skip' }"

  {
    "simpkv::put('a/new', 1, {}, #{skipping})" => "put with key='a/new'",
    "simpkv::delete('a/there', #{skipping})" => "delete with key='a/there'",
    "simpkv::deletetree('a', #{skipping})" => "deletetree with keydir='a'",
    "simpkv::put_many({ 'a/new' => { 'value' => 1 } }, #{skipping})" => "put_many with keys='a/new'",
    "simpkv::compare_and_put('a/there', 'old', 'new', {}, #{skipping})" => "compare_and_put with key='a/there'",
    "simpkv::get_or_create('a/new', {}, #{skipping}) |$key| { 'made' }" => "get_or_create with key='a/new'"
  }.each do |call, what|
    it "skips #{what[/\w+/]}, with a notice" do
      compile(call)
      expect(keys).to eq('environments/production/a/there' => 'old')
      expect(world.notices).to include("simpkv::#{what} is not done: this node runs in noop, and 'noop_writes' is skip")
    end
  end

  it 'is write by default' do
    compile("simpkv::put('a/new', 1)")
    expect(keys).to include('environments/production/a/new' => 1)
  end

  it 'has no effect on a node that does not run in noop' do
    compile("simpkv::put('a/new', 1, {}, #{skipping})", noop: false)
    expect(keys).to include('environments/production/a/new' => 1)
  end

  it 'makes get_or_create return the stored value, or the value that it would have stored' do
    compile(<<~PUPPET)
      notice(simpkv::get_or_create('a/new', { 'm' => 2 }, #{skipping}) |$key| { "for ${key}" })
      notice(simpkv::get_or_create('a/there', {}, #{skipping}) |$key| { 'not run' })
    PUPPET
    expect(world.notices).to include('{value => for a/new, metadata => {m => 2}}',
                                     '{value => old, metadata => {m => 1}}')
  end

  it 'makes get_or_create return what it would store in place of an expired value' do
    stored['environments/production/a/old'] = expired = '{"value":"old","expires":"2020-01-01T00:00:00Z"}'
    compile("notice(simpkv::get_or_create('a/old', {}, #{skipping}) |$key| { 'new' }['value'])")
    expect(world.notices).to include('new')
    expect(stored['environments/production/a/old']).to eq(expired)
  end

  it 'remembers no value that was not written' do
    compile(<<~PUPPET)
      [1, 2].each |$n| { notice(simpkv::get_or_create('a/new', {}, #{skipping}) |$key| { "made ${n}" }['value']) }
    PUPPET
    expect(world.notices).to include('made 1', 'made 2')
    expect { compile("simpkv::put('a/new', 1, {}, #{skipping})\nsimpkv::get('a/new')") }
      .to raise_error(Puppet::Error, /Key not found/)
  end

  it 'makes compare_and_put return false, and put_many return no stored keys' do
    compile(<<~PUPPET)
      notice(simpkv::compare_and_put('a/there', 'old', 'new', {}, #{skipping}))
      notice(simpkv::put_many({ 'a/new' => { 'value' => 1 } }, #{skipping}))
    PUPPET
    expect(world.notices).to include('false', '{stored => [], errors => {}}')
  end

  it 'makes get_or_create return the value as a read would return it' do
    compile(<<~PUPPET)
      notice(simpkv::get_or_create('a/new', Timestamp('2026-11-22T10:00:00.000 UTC'), {}, #{skipping})['value'] =~ String)
      notice(simpkv::get_or_create('a/new', { 1 => 2 }, {}, #{skipping})['value'])
    PUPPET
    expect(world.notices).to include('true', '{1 => 2}')
  end

  # A catalog fails in noop mode for the same errors as without it.
  {
    "simpkv::put('/', 1, {}, #{skipping})" => %r{Key specifies a folder: '/'},
    "simpkv::delete('/', #{skipping})" => %r{Key specifies a folder: '/'},
    "simpkv::deletetree('a/../b', #{skipping})" => %r{'a/../b' contains disallowed},
    "simpkv::put('a/new', [Deferred('x')], {}, #{skipping})" => /cannot encode value\[0\]/,
    "simpkv::get_or_create('a/new', [Deferred('x')], {}, #{skipping})" => /cannot encode value\[0\]/,
    "simpkv::compare_and_put('a/there', [Deferred('x')], 1, {}, #{skipping})" => /cannot encode expected\[0\]/,
    "simpkv::compare_and_put('a/there', 1, [Deferred('x')], {}, #{skipping})" => /cannot encode value\[0\]/,
    "simpkv::compare_and_put('/', 1, 2, {}, #{skipping})" => %r{Key specifies a folder: '/'},
    "simpkv::put_many({ '/' => { 'value' => 1 } }, #{skipping})" => %r{1 of 1 keys not stored: '/': .*Key specifies a},
    "simpkv::put_many({ 'a' => { 'value' => 1 }, '/a' => { 'value' => 1 } }, #{skipping})" => /are the same key/,
    "simpkv::put('a/new', 1, {}, { 'noop_writes' => 'skip', 'backend' => 'none' })" => /backend 'none'/,
    "simpkv::compare_and_put('a/new', undef, 1, {}, { 'noop_writes' => 'skip', 'expires_after' => '9000y' })" => /9999/,
    "simpkv::put_many({ 'b' => { 'value' => 1 } }, { 'noop_writes' => 'skip', 'expires_after' => '9000y' })" => /9999/
  }.each do |call, why|
    it "refuses #{call[/simpkv.*?(?=, \{ 'noop)/]}, as a real write does" do
      expect { compile(call) }.to raise_error(Puppet::Error, why)
      expect { compile(call.sub("'skip'", "'write'")) }.to raise_error(Puppet::Error, why)
    end
  end

  it 'gives the errors of put_many, as a real write does' do
    found = %w[skip write].map do |word|
      compile("notice(simpkv::put_many({ '/' => { 'value' => 1 } }, " \
              "{ 'noop_writes' => '#{word}', 'errors' => 'return' }))")
      world.notices.last
    end
    expect(found).to eq(["{stored => [], errors => {/ => simpkv memory/noop Error: Key specifies a folder: '/': " \
                         'choose another name for the key}}'] * 2)
  end

  it 'writes if there are no facts, as in a plan of Bolt' do
    expect(world.call('simpkv::put', 'a/new', 1, {}, { 'noop_writes' => 'skip' })).to be(true)
    expect(keys).to include('environments/production/a/new' => 1)
  end

  it 'reads as usual' do
    compile("notice(simpkv::get('a/there', #{skipping})['value'])")
    expect(world.notices).to include('old')
  end

  it 'refuses other values' do
    expect { compile("simpkv::put('a', 1, {}, { 'noop_writes' => 'maybe' })") }
      .to raise_error(Puppet::Error, /'noop_writes' in simpkv configuration must be a String, write or skip/)
  end
end
