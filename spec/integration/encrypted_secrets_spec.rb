# frozen_string_literal: true

require_relative '../puppet_helper'
require_relative '../support/key_file'
require_relative '../support/ldap_store'

# Searches everything that a backend and its server keep.
RSpec.describe 'A secret in an encrypted backend', once: true do
  include KeyFile

  let(:secret) { 'pl4nted-encrypt3d' }
  let(:seen) { 'pl4nted-pla1n' }
  let(:site) { { 'backends' => { 'default' => options.merge('encryption_keys' => write_keys('a')) } } }
  let!(:world) { PuppetWorld.new(hiera: site) }

  # Runs after Puppet's own preparation of each example, which resets it.
  before { Puppet::Util::Log.level = :debug }

  after { world.close }

  def call(function, *arguments)
    world.call("simpkv::#{function}", *arguments)
  end

  # The secret, and its forms in encodings and dumps.
  def spellings(text)
    [text, *Array.new(3) { |shift| [text.b[shift..]].pack('m0').delete('=')[0...-1] }, text.unpack1('H*'), text.reverse]
  end

  # @return [Array<String>] the content of all files below a folder
  def contents(folder)
    Dir.glob("#{folder}/**/*", File::FNM_DOTMATCH).select { |file| File.file?(file) && File.readable?(file) }
       .map { |file| File.binread(file) }
  end

  def store_all(sensitive)
    call('put', 'd/k', secret, { 'm' => secret })
    call('put', 'd/k', { secret => [secret, sensitive] }, {}, { 'rich_data' => true })
    call('put_many', { 'd/a' => { 'value' => secret }, 'd/b' => { 'value' => "#{secret}\xFF".b } })
    call('get_or_create', 'd/new', sensitive)
    call('compare_and_put', 'd/new', sensitive, "#{secret} changed")
  end

  def use_all
    store_all(Puppet::Pops::Types::PSensitiveType::Sensitive.new(secret))
    expect(call('get', 'd/new')['value']).to eq("#{secret} changed")
    expect(call('tree', 'd')['keys'].length).to eq(4)
    call('delete', 'd/a')
    # Shows that the search finds what is there.
    world.adapter.plugin_instance(world.call('simpkv::support::config::merge', {}, %w[file ldap]))
         .put('environments/production/d/plain', %({"value":"#{seen}"}))
  end

  def fail_in_all_ways(store)
    path = 'environments/production/d/k'
    raw = store.get(path)
    store.put(path, raw.sub('"jwe"', '"jwf"'))
    expect { call('get', 'd/k') }.to raise_error(RuntimeError)
    store.put(path, store.get('environments/production/d/b'))
    expect { call('list', 'd') }.to raise_error(RuntimeError, /copied or moved/)
    write_keys('b')
    expect { call('get', 'd/new') }.to raise_error(RuntimeError, /not in/)
    call('get_many', %w[d/k d/new], { 'errors' => 'return' })
    call('get', 'd/new', { 'softfail' => true })
  end

  def present(texts, all)
    texts.select { |text| all.any? { |bytes| bytes.include?(text) } }
  end

  def expect_no_secret(folder)
    kept = contents(folder)
    said = world.messages.join("\n").b
    secrets = spellings(secret) + %w[a b].map { |kid| jwk(kid)['k'] }
    expect(present([seen], kept)).to eq([seen])
    expect([present(secrets, [*kept, said]), said.length]).to match([[], be > 200])
  end

  describe 'in files' do
    let(:root) { File.join(key_folder, 'root') }
    let(:options) { { 'type' => 'file', 'id' => 'secrets', 'root_path' => root } }

    it 'is in no file and no message' do
      use_all
      fail_in_all_ways(Simpkv::Store.open('file', 'root_path' => root))
      expect_no_secret(root)
    end
  end

  Directories.each_server do |server, tags|
    describe "in #{server}", **tags do
      include_context 'with a directory', server, limits: true

      let(:options) { directory.options('type' => 'ldap', 'id' => id) }

      it 'is in no file of its database, in no log and in no message' do
        directory.audit if server == Ds389
        use_all
        fail_in_all_ways(store)
        # Writes all of the database to the disk.
        directory.stop_serving
        expect_no_secret(directory.folder)
      end
    end
  end
end
