# frozen_string_literal: true

require_relative '../puppet_helper'
require_relative '../support/ldap_store'
require_relative '../support/scratch'

# Simulates simplib's passgen in Puppet's language after the contract's description. It stores a password and its salt
# under gen_passwd/<id>; the metadata have the password's complexity and up to ten previous pairs.
module Passgen
  FUNCTIONS = <<-PUPPET
    function acted_options() { { 'app_id' => 'passgen' } }

    # Returns the stored password, or stores the new pair first.
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

  # Passwords of any complexity. No layer may interpret their characters.
  PASSWORDS = ['simple', 'it`s $(not) \\ a "command"', '@%-_+=~.:/#!?*', 'Ω and é', 'x' * 128].freeze

  # Ids with folders, and with the suffixes of passgen's separate files for salts and previous passwords.
  IDS = %w[web app1/db app1/web app1/site/deep db.example.com backup-user cluster_1:token web.last web.salt
           web.salt.last].freeze
end

RSpec.shared_examples 'a store of passgen' do
  let(:world) { PuppetWorld.new(hiera: { 'backends' => { 'default' => backend } }) }

  after { world.close }

  # @return the value of the expression in a new catalog
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

  # Returns the value as a literal of Puppet's language.
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

  it 'returns the same password to every catalog, with any characters' do
    Passgen::PASSWORDS.each_with_index do |password, n|
      expect(passgen("id#{n}", password, "salt#{n}")).to eq(password)
      expect(passgen("id#{n}", 'another', 'salt')).to eq(password)
      expect(get("id#{n}")['value']).to eq('password' => password, 'salt' => "salt#{n}")
    end
  end

  it 'keeps the complexity of the password' do
    [[0, false], [1, true], [2, false]].each do |complexity, only|
      passgen("c#{complexity}", 'p', 's', how: { 'complexity' => complexity, 'complex_only' => only })
      expect(get("c#{complexity}")['metadata'])
        .to eq('complexity' => complexity, 'complex_only' => only, 'history' => [])
    end
  end

  it 'keeps the ten previous passwords, the latest first' do
    passgen('app1/db', 'p0', 's0', how: { 'complexity' => 2, 'complex_only' => true })
    (1..12).each do |n|
      expect(rotation('app1/db', "p#{n}", "s#{n}")).to eq("p#{n}")
      last = (n - 1).downto([n - 10, 0].max).map { |old| ["p#{old}", "s#{old}"] }
      expect(get('app1/db')).to eq('value' => { 'password' => "p#{n}", 'salt' => "s#{n}" },
                                   'metadata' => { 'complexity' => 2, 'complex_only' => true, 'history' => last })
    end
    expect(get('app1/db')['metadata']['history'].length).to eq(10)
  end

  it 'lists passwords by folder, even names that end in the suffix of a separate file' do
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

  it 'deletes one password and no other, and creates it again' do
    %w[app1/db app1/db2 app1/dbs/a].each { |id| passgen(id, "old #{id}", 'salt') }
    expect(world.call('simpkv::delete', 'gen_passwd/app1/db')).to be(true)
    expect(passgen('app1/db', 'new', 'salt')).to eq('new')
    expect(get('app1/db')['metadata']['history']).to eq([])
    %w[app1/db2 app1/dbs/a].each { |id| expect(passgen(id, 'new', 'salt')).to eq("old #{id}") }
  end

  it 'deletes the passwords of a folder, and no others' do
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
