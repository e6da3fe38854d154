# frozen_string_literal: true

require_relative 'conformance_helper'

# Names that a layer might turn into another name: dots, escapes of paths, of DNs and of filters, letters that Unicode
# or a directory equates with others, and invisible characters.
module Tricks
  KEYS = [
    '../production/secret', './../production/secret', 'a/../../production/secret', '..//production/secret',
    '/../production/secret', '../../environments/production/secret', '%2e%2e/production/secret',
    '..%2fproduction%2fsecret', '..\\production\\secret', "\uFF0E\uFF0E/production/secret",
    "..\u2215production\u2215secret", "\u2025/production/secret", "..\u0000/production/secret",
    "..\u200B/production/secret",
    'secret,ou=production', 'secret,ou=production,ou=environments', 'secret\\2cou=production', 'secret"',
    'secret+ou=production', '<secret>', '#736563726574', '*', 's*', ')(simpkvKey=*', 'secret)(objectClass=*',
    '(|(simpkvKey=*))', "secret\ndn: x", "secret\r", "\u0000", '~', '~root/secret', '$(id)', '`id`', '-', '--'
  ].freeze

  ENVIRONMENTS = [
    '..', '.', '../production', 'dev/../production', './production', 'production/', '/production', 'production/.',
    'production ', ' production', "production\u0000", "production\u0000x", "production\u200B", "\uFEFFproduction",
    'PRODUCTION', 'Production', "\uFF50\uFF52\uFF4F\uFF44\uFF55\uFF43\uFF54\uFF49\uFF4F\uFF4E", "producti\u00BAn",
    "pro\u00ADduction", 'production,ou=environments', 'dev,ou=production', 'dev\\2cou=production', 'production\\20',
    '#70726f64756374696f6e', 'production+ou=x', '*', 'prod*', ')(ou=*', '%70roduction', "production\n", "\tproduction"
  ].freeze
end

Conformance.describe 'The keys of an environment, for a catalog of another one' do
  planted = 'planted-in-production'

  before do
    put('secret', planted)
    put('folder/secret', planted)
  end

  # Calls the adapter, which accepts any key and any environment. Returns its results as text.
  def ask(adapter, key, options)
    answers = [adapter.get(key, options), adapter.list(key, options), adapter.exists(key, options)]
    answers.push(adapter.put(key, 'taken', {}, options), adapter.delete(key, options),
                 adapter.deletetree(key, options))
    answers.map(&:inspect).join
  end

  def expect_them_untouched(planted)
    expect([get('secret')['value'], get('folder/secret')['value']]).to eq([planted, planted])
    expect(list('/')).to match('keys' => { 'secret' => anything }, 'folders' => ['folder'])
    expect(list('folder')['keys'].keys).to eq(['secret'])
  end

  it 'cannot be read, changed or deleted by any key' do
    in_environment('dev') do |dev|
      options = merged.merge('environment' => 'dev')
      Tricks::KEYS.each { |key| expect(ask(dev.adapter, key, options)).not_to include(planted), key.inspect }
    end
    expect_them_untouched(planted)
  end

  it 'cannot be read, changed or deleted by any name of an environment' do
    in_environment('dev') do |dev|
      Tricks::ENVIRONMENTS.each do |name|
        %w[secret folder/secret folder].each do |key|
          answers = ask(dev.adapter, key, merged.merge('environment' => name))
          expect(answers).not_to include(planted), name.inspect
        end
      end
    end
    expect_them_untouched(planted)
  end

  it 'are accessible in their own environment' do
    expect(ask(world.adapter, 'secret', merged.merge('environment' => 'production'))).to include(planted)
  end

  it 'are refused in a manifest by any such key' do
    in_environment('dev') do |dev|
      Tricks::KEYS.grep_v(/\A[-a-z]+\z/).each do |key|
        %w[get exists list delete deletetree].each do |function|
          expect { dev.call("simpkv::#{function}", key) }.to raise_error(ArgumentError), "#{function} #{key.inspect}"
        end
      end
    end
    expect_them_untouched(planted)
  end
end

Conformance.describe 'The keys of a backend, for another one with a similar id' do
  it 'are inaccessible' do
    put('secret', 'planted')
    ['conformance ', 'CONFORMANCE', "conformance\u200B", "\uFF43onformance", 'conformance,ou=x', '../conformance', '*']
      .each do |id|
      other = { 'backends' => { 'default' => entry.merge('id' => id) } }
      # A backend with a root folder of its own stores the keys of all ids there.
      expect(found(other).to_s).not_to include('planted'), id.inspect unless entry.key?('root_path')
    end
    expect(found('backends' => { 'default' => entry })['value']).to eq('planted')
  end

  # Returns the value that a catalog reads with these options, or the message of the error.
  def found(options)
    world.fresh_catalog.call('simpkv::get', 'secret', options)
  rescue StandardError => e
    e.message
  end
end

# The options of a catalog in another environment could name a place inside another store.
Conformance.describe 'The keys of a backend, for another one whose options name a place inside it' do
  before { put('globals/secret', 'planted') }

  # Expects such a catalog to fail to read and to write a global key.
  def expect_refused(other, message)
    in_environment('dev') do |dev|
      options = { 'backends' => { 'default' => entry.merge(other) }, 'global' => true }
      expect { dev.call('simpkv::get', 'secret', options) }.to raise_error(ArgumentError, message)
      expect { dev.call('simpkv::put', 'secret', 1, {}, options) }.to raise_error(ArgumentError, message)
    end
    expect(get('globals/secret')['value']).to eq('planted')
    expect(list('/')).to eq('keys' => {}, 'folders' => ['globals'])
  end

  # With the second id, a catalog read and wrote production's key in files and in the plain layout of LDAP.
  it 'are inaccessible to an id with a slash' do
    ['conformance/globals', 'conformance/environments/production', 'a/b', '/conformance', 'conformance/',
     '/'].each do |id|
      expect_refused({ 'id' => id }, /simpkv Configuration Error.*'id' of simpkv backend 'default' must be a name: /)
    end
  end

  it 'are inaccessible to a base DN' do
    next unless entry.key?('base_dn')

    instance = "ou=conformance,ou=instances,#{entry['base_dn']}"
    ['ou=production,ou=environments,', 'ou=globals,', 'OU=Environments , ', 'ou=a,organizationalUnitName="gl\\6fbals",',
     '2.5.4.11=#0407676c6f62616c73,'].each do |inside|
      expect_refused({ 'id' => 'other', 'base_dn' => "#{inside}#{instance}" }, /the base DN .* is inside the tree of/)
    end
  end

  # Such a backend read and wrote production's key.
  it 'are inaccessible to a root folder' do
    next unless entry.key?('root_path')

    root = entry['root_path']
    File.symlink(root, link = File.join(world.dir, 'link'))
    ["#{root}/environments/production", "#{root}/globals/x", "#{root}//environments", "#{link}/environments/production",
     "#{root}/none/../environments/production", "#{root}/none/deep/../../globals"].each do |path|
      expect_refused({ 'id' => 'other', 'root_path' => path },
                     /the root folder '.*' is inside that of another store, '/)
      expect do
        Simpkv::Store.open('file', 'root_path' => path)
      end.to raise_error(Simpkv::ConfigError, /is inside that of/)
    end
    expect(Dir.children(root)).to contain_exactly('environments', 'globals')
  end
end
