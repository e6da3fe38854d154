# frozen_string_literal: true

require_relative '../puppet_helper'
require_relative '../support/ldap_store'
require_relative '../support/scratch'

# What simplib's passgen does with simpkv, acted out in Puppet's language from the contract's description: a password
# and its salt under gen_passwd/<id>, and in the metadata how complex it is, and up to ten pairs that it had before.
module Passgen
  FUNCTIONS = <<-PUPPET
    function acted_options() { { 'app_id' => 'passgen' } }

    # What is stored, or the new pair, stored now.
    function acted_passgen(String[1] $id, Array $new, Hash $how = { 'complexity' => 0, 'complex_only' => false }) {
      $key = "gen_passwd/${id}"
      unless simpkv::exists($key, acted_options()) {
        simpkv::put($key, { 'password' => $new[0], 'salt' => $new[1] }, $how + { 'history' => [] }, acted_options())
      }
      simpkv::get($key, acted_options())['value']['password']
    }

    # The new pair replaces the stored one, which becomes the first of the history.
    function acted_rotation(String[1] $id, Array $new) {
      $key = "gen_passwd/${id}"
      $old = simpkv::get($key, acted_options())
      $pair = [$old['value']['password'], $old['value']['salt']]
      $history = ([$pair] + $old['metadata']['history'])[0, 10]
      simpkv::put($key, { 'password' => $new[0], 'salt' => $new[1] }, $old['metadata'] + { 'history' => $history },
                  acted_options())
      simpkv::get($key, acted_options())['value']['password']
    }
  PUPPET

  # Of any complexity; nothing in them may be taken for something else on the way.
  PASSWORDS = ['simple', 'it`s $(not) \\ a "command"', '@%-_+=~.:/#!?*', 'Ω and é', 'x' * 128].freeze

  # Folders in the id; and the names that password, salt and predecessor had as files of their own.
  IDS = %w[web app1/db app1/web app1/site/deep db.example.com backup-user cluster_1:token web.last web.salt
           web.salt.last].freeze
end

RSpec.shared_examples 'a store of passgen' do
  let(:world) { PuppetWorld.new(hiera: { 'backends' => { 'default' => backend } }) }

  after { world.close }

  # @return what the expression comes to in a catalog of its own
  def compiled(expression)
    catalog = world.compile("#{Passgen::FUNCTIONS}\nnotify { 'result': message => #{expression} }")
    catalog.resource('Notify[result]')[:message]
  end

  def passgen(id, *new, how: { 'complexity' => 0, 'complex_only' => false })
    compiled("acted_passgen(#{puppet(id)}, #{puppet(new)}, #{puppet(how)})")
  end

  def rotation(id, *new)
    compiled("acted_rotation(#{puppet(id)}, #{puppet(new)})")
  end

  # The literal of Puppet's language.
  def puppet(value)
    case value
    when Hash then "{ #{value.map { |name, member| "#{puppet(name)} => #{puppet(member)}" }.join(', ')} }"
    when Array then "[#{value.map { |member| puppet(member) }.join(', ')}]"
    when String then "'#{value.gsub(/['\\]/) { |character| "\\#{character}" }}'"
    else value.to_s
    end
  end

  def get(id)
    world.call('simpkv::get', "gen_passwd/#{id}")
  end

  it 'has the same password for every catalog, whatever is in it' do
    Passgen::PASSWORDS.each_with_index do |password, n|
      expect(passgen("id#{n}", password, "salt#{n}")).to eq(password)
      expect(passgen("id#{n}", 'another', 'salt')).to eq(password)
      expect(get("id#{n}")['value']).to eq('password' => password, 'salt' => "salt#{n}")
    end
  end

  it 'keeps how complex the password is' do
    [[0, false], [1, true], [2, false]].each do |complexity, only|
      passgen("c#{complexity}", 'p', 's', how: { 'complexity' => complexity, 'complex_only' => only })
      expect(get("c#{complexity}")['metadata'])
        .to eq('complexity' => complexity, 'complex_only' => only, 'history' => [])
    end
  end

  it 'keeps the ten passwords before the last one, the latest first' do
    passgen('app1/db', 'p0', 's0', how: { 'complexity' => 2, 'complex_only' => true })
    (1..12).each do |n|
      expect(rotation('app1/db', "p#{n}", "s#{n}")).to eq("p#{n}")
      last = (n - 1).downto([n - 10, 0].max).map { |old| ["p#{old}", "s#{old}"] }
      expect(get('app1/db')).to eq('value' => { 'password' => "p#{n}", 'salt' => "s#{n}" },
                                   'metadata' => { 'complexity' => 2, 'complex_only' => true, 'history' => last })
    end
    expect(get('app1/db')['metadata']['history'].length).to eq(10)
  end

  it 'lists them by folder, with names that end in what used to be a file of its own' do
    Passgen::IDS.each { |id| passgen(id, "password of #{id}", 'salt') }
    found = world.call('simpkv::list', 'gen_passwd')
    expect(found['folders']).to eq(['app1'])
    expect(found['keys'].keys).to eq(Passgen::IDS.reject { |id| id.include?('/') }.sort)
    expect(found['keys']['web.salt']['value']['password']).to eq('password of web.salt')
    expect(world.call('simpkv::list', 'gen_passwd/app1')).to match(
      'keys' => { 'db' => a_hash_including('value', 'metadata'), 'web' => a_hash_including('value', 'metadata') },
      'folders' => ['site']
    )
  end

  it 'forgets one, and no other, and makes it anew' do
    %w[app1/db app1/db2 app1/dbs/a].each { |id| passgen(id, "old #{id}", 'salt') }
    expect(world.call('simpkv::delete', 'gen_passwd/app1/db')).to be(true)
    expect(passgen('app1/db', 'new', 'salt')).to eq('new')
    expect(get('app1/db')['metadata']['history']).to eq([])
    %w[app1/db2 app1/dbs/a].each { |id| expect(passgen(id, 'new', 'salt')).to eq("old #{id}") }
  end

  it 'forgets those of a folder, and no others' do
    %w[app1/db app1/site/a app2/db].each { |id| passgen(id, "old #{id}", 'salt') }
    expect(world.call('simpkv::deletetree', 'gen_passwd/app1')).to be(true)
    expect(world.call('simpkv::list', 'gen_passwd')).to eq('keys' => {}, 'folders' => ['app2'])
    expect(passgen('app1/site/a', 'new', 'salt')).to eq('new')
    expect(passgen('app2/db', 'new', 'salt')).to eq('old app2/db')
  end

  it 'shows no password in messages when a password cannot be read' do
    passgen('shown/never', 'hush-hush', 'salty')
    expect { world.call('simpkv::get', 'gen_passwd/shown') }.to raise_error(RuntimeError) { |error|
      expect(error.message).not_to match(/hush|salty/)
    }
  end
end

RSpec.describe 'Passwords, as passgen keeps them, in files', :once do
  let(:root) { Scratch.make('simpkv-passgen') }
  let(:backend) { { 'type' => 'file', 'id' => 'passwords', 'root_path' => root } }

  after { FileUtils.remove_entry(root) }

  include_examples 'a store of passgen'
end

%w[plain hex].each do |layout|
  RSpec.describe "Passwords, as passgen keeps them, in a directory, #{layout}", :once do
    include_context 'with slapd', layout: layout

    let(:backend) { slapd.options('type' => 'ldap', 'id' => id) }

    include_examples 'a store of passgen'
  end
end
