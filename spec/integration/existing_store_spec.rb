# frozen_string_literal: true

require_relative '../puppet_helper'
require_relative '../support/distinguished_names'
require_relative '../support/ldap_store'
require_relative '../support/scratch'

# Stores of the existing module: spec/fixtures/existing holds their bytes, as files and as LDIF of both layouts, written
# from the contract and not by this project's code. These are the values in them, by environment.
module ExistingStore
  FIXTURES = File.expand_path('../fixtures/existing', __dir__)

  # Most have no metadata.
  def self.plain(values)
    values.transform_values { |value| [value, {}] }
  end

  TEXTS = plain(
    'plain/string' => 'some text', 'plain/empty_string' => '',
    'plain/escapes' => "quote \" backslash \\ slash / \b\f\n\r\t \u0000 \u001f \u007f \u2028",
    'plain/greek' => 'καλημέρα κόσμε', 'plain/emoji' => "\u{1F600} \u{1F469}\u200D\u{1F467}",
    'plain/composed' => "\u00e9 e\u0301", 'plain/like_json' => '{"value":1}',
    'plain/like_ldif' => "objectClass: organizationalUnit\ndn: ou=x"
  ).freeze

  NUMBERS = plain(
    'plain/true' => true, 'plain/false' => false, 'plain/undef' => nil, 'plain/zero' => 0, 'plain/integer' => 42,
    'plain/negative' => -7, 'plain/largest' => (2**63) - 1, 'plain/smallest' => -(2**63),
    'plain/beyond_64_bits' => 123_456_789_012_345_678_901_234_567_890,
    'plain/below_64_bits' => -123_456_789_012_345_678_901_234_567_890,
    'plain/float' => 9.898, 'plain/whole_float' => 100.0, 'plain/float_0.0001' => 0.0001,
    'plain/float_1.0e-05' => 0.00001, 'plain/float_1e14' => 1e14, 'plain/float_1e15' => 1e15,
    'plain/float_1e16' => 1e16, 'plain/float_1e20' => 1e20, 'plain/float_smallest' => 5e-324,
    'plain/float_largest' => Float::MAX, 'plain/float_minus_zero' => -0.0, 'plain/float_third' => 1.0 / 3,
    'plain/float_sum' => 0.1 + 0.2
  ).freeze

  COLLECTIONS = plain(
    'plain/empty_array' => [], 'plain/array' => [1, 'two', 3.0, true, nil, ['deep', {}]], 'plain/empty_hash' => {},
    'plain/hash' => { 'b' => { 'z' => [1, { 'y' => nil }] }, 'a' => 1 },
    'plain/hash_order' => { 'z' => 1, 'a' => 2, 'm' => { 'k10' => 1, 'k9' => 2 }, '1' => 3 },
    'plain/odd_names' => { '' => 1, 'a b' => 2, 'é' => 3, "q\"\\\n" => 4, 'a/b' => 5, 'true' => 6, '2.5' => 7 },
    'plain/deep' => (1..98).reduce([]) { |inner, _| [inner] }
  ).freeze

  BINARIES = {
    'binary/empty' => [''.b, {}], 'binary/every_byte' => [(0..255).to_a.pack('C*'), {}],
    'binary/latin' => ["caf\xE9".b, {}],
    'binary/with_metadata' => ["\x00\xFF\x80\x01".b, { 'source' => 'keytab', 'rotations' => 3 }]
  }.freeze

  NOTED = {
    'noted/one' => ['v', { 'owner' => 'dba' }], 'noted/order' => [1, { 'zone' => 1, 'area' => 2, 'm' => nil }],
    'noted/nested' => ['v', { 'list' => [1, 2.5, nil, true, []], 'text' => 'Ω', 'hash' => { 'b' => 1, 'a' => {} } }],
    'noted/undef' => [nil, { 'why' => 'forgotten' }],
    'gen_passwd/app1/db' => [{ 'password' => 'not$so\\secret', 'salt' => 'abcd1234' },
                             { 'complexity' => 1, 'complex_only' => false,
                               'history' => [%w[before salt1], ['long ago', 'salt0']] }],
    'top' => ['at the root', {}], '.hidden' => ['dot', {}]
  }.freeze

  # Valid documents that this project's writer would spell in another way.
  OTHERWISE = {
    'other/no_metadata' => [7, {}], 'other/null_metadata' => [8, {}], 'other/only_undef' => [nil, {}],
    'other/unknown_members' => [1, { 'a' => 1 }], 'other/metadata_first' => ['x', { 'a' => 1 }],
    'other/spaced' => [[1, { 'a' => 1.5 }], {}], 'other/escaped_text' => ["\u00e9 \u{1F600} /", {}],
    'other/number_spelling' => [[1.5, 1.5, 1000.0, 1.0], {}], 'other/nul_in_name' => [{ "a\0b" => 1 }, {}]
  }.freeze

  # Read as JSON.parse reads them: of two members with one name, the last one counts.
  ONLY_READ = {
    'other/base64_alone' => ["\x00\xFF".b, {}], 'other/twice' => ['last', { 'b' => 2 }],
    'other/twice_inside' => [{ 'a' => 3, 'b' => 2 }, {}]
  }.freeze

  KEPT = [TEXTS, NUMBERS, COLLECTIONS, BINARIES, NOTED, OTHERWISE].reduce(:merge).freeze
  PRODUCTION = KEPT.merge(ONLY_READ).freeze
  # simpkv::put does not accept undef.
  PUTTABLE = KEPT.reject { |_, (value, _)| value.nil? }.freeze
  GLOBALS = { 'everywhere' => ['global', {}],
              'site/ntp' => [['10.0.0.1', '10.0.0.2'], { 'owner' => 'net' }] }.freeze

  # @return [Hash] what simpkv::get returns
  def self.entry((value, metadata))
    metadata.empty? ? { 'value' => value } : { 'value' => value, 'metadata' => metadata }
  end
end

# Needs `backend`, and `traces`: the properties of the stored keys that a write changes.
RSpec.shared_examples 'a store of the existing module' do
  let!(:world) { PuppetWorld.new(hiera: { 'backends' => { 'default' => backend } }) }
  let(:global) { { 'global' => true } }

  after { world.close }

  # Equal, of the same classes, and hashes in the same order.
  def expect_same(found, expected)
    expect(found).to eq(expected)
    expect(found.inspect).to eq(expected.inspect)
  end

  it 'reads every value and its metadata' do
    ExistingStore::PRODUCTION.each do |key, stored|
      expect_same(world.call('simpkv::get', key), ExistingStore.entry(stored))
    end
    ExistingStore::GLOBALS.each do |key, stored|
      expect_same(world.call('simpkv::get', key, global), ExistingStore.entry(stored))
    end
  end

  it 'reads binary values as strings of bytes' do
    ExistingStore::BINARIES.each_key do |key|
      expect(world.call('simpkv::get', key)['value'].encoding).to eq(Encoding::ASCII_8BIT)
    end
  end

  it 'lists all keys in order, and the folders' do
    %w[plain binary noted other].each do |folder|
      below = ExistingStore::PRODUCTION.select { |key, _| key.start_with?("#{folder}/") }
      expected = below.map { |key, stored| [key.delete_prefix("#{folder}/"), ExistingStore.entry(stored)] }.sort.to_h
      expect_same(world.call('simpkv::list', folder), 'keys' => expected, 'folders' => [])
    end
    expect_same(world.call('simpkv::list', '/'),
                'keys' => { '.hidden' => { 'value' => 'dot' }, 'top' => { 'value' => 'at the root' } },
                'folders' => %w[binary gen_passwd noted other plain])
    expect(world.call('simpkv::list', '/', global)).to eq('keys' => { 'everywhere' => { 'value' => 'global' } },
                                                          'folders' => ['site'])
  end

  it 'modifies nothing when the values that were read are put again' do
    before = traces
    ExistingStore::PUTTABLE.each do |key, (value, metadata)|
      expect(world.call('simpkv::put', key, value, metadata)).to be(true)
    end
    ExistingStore::GLOBALS.each { |key, (value, metadata)| world.call('simpkv::put', key, value, metadata, global) }
    expect(traces).to eq(before)
  end

  it 'modifies nothing when a manifest puts the values that it gets' do
    before = traces
    world.compile(ExistingStore::PUTTABLE.keys.grep(%r{\A(plain|noted|other)/}).map { |key| <<-PUPPET }.join)
      with(simpkv::get('#{key}')) |$entry| {
        simpkv::put('#{key}', $entry['value'], $entry['metadata'] ? { undef => {}, default => $entry['metadata'] })
      }
    PUPPET
    expect(traces).to eq(before)
  end

  it 'modifies the keys that are put with another value, another order or other metadata, and no others' do
    before = traces
    world.call('simpkv::put', 'plain/integer', 42.0)
    world.call('simpkv::put', 'plain/hash', { 'a' => 1, 'b' => { 'z' => [1, { 'y' => nil }] } })
    world.call('simpkv::put', 'noted/one', 'v', { 'owner' => 'web' })
    now = traces
    changed = before.keys.reject { |key| now[key] == before[key] }
    expect(changed.map { |key| key.delete_prefix('environments/production/') })
      .to match_array(%w[plain/integer plain/hash noted/one])
  end
end

RSpec.describe 'A store that the existing module left in files', :once do
  let(:scratch) { Scratch.make('simpkv-existing') }
  let(:root) { File.join(scratch, 'root') }
  let(:backend) { { 'type' => 'file', 'id' => 'site', 'root_path' => root } }

  before do
    FileUtils.cp_r(File.join(ExistingStore::FIXTURES, 'file'), root)
    keys.each { |file| File.utime(0, 0, file) }
  end

  after { FileUtils.remove_entry(scratch) }

  def keys
    Dir.glob(File.join(root, '**', '*'), File::FNM_DOTMATCH).select { |path| File.file?(path) }
  end

  def traces
    keys.to_h do |file|
      stat = File.stat(file)
      [file.delete_prefix("#{root}/"), [stat.ino, stat.mtime, stat.ctime, File.binread(file)]]
    end
  end

  include_examples 'a store of the existing module'
end

Directories::ALL.each do |server, layout, tags|
  RSpec.describe "A store that the existing module left in a directory, #{server} #{layout}", :once, **tags do
    include_context 'with a directory', server, layout: layout

    let(:backend) { directory.options('type' => 'ldap', 'id' => 'site') }

    before { directory.add(File.read(File.join(ExistingStore::FIXTURES, "#{layout}.ldif"))) }
    after { directory.delete_tree("ou=instances,#{DirectoryServer::BASE_DN}") }

    # 389-DS has no entryCSN: there, the number of writes in its log shows a write.
    def traces
      writes = directory.log.scan(/ (?:MOD|ADD|DEL|MODRDN) dn="([^"]*)"/).flatten.tally
      entries = directory.entries(DirectoryServer::BASE_DN, '(objectClass=simpkvEntry)', 'modifyTimestamp', 'entryCSN',
                                  'simpkvJsonValue')
      entries.to_h do |entry|
        name = entry['dn'].first
        path = DistinguishedNames.path(name, DirectoryServer::BASE_DN).last
        [path, [entry, writes.fetch(name, 0)]]
      end
    end

    include_examples 'a store of the existing module'
  end
end
