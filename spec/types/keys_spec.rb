# frozen_string_literal: true

require_relative 'types_helper'

# Values come to agents as rich data, and are stored as functions store them.
RSpec.describe 'simpkv_key' do
  include_context 'with keys as resources'

  # @return [String] the document that the function `simpkv::put` stores
  def stored_by_function(value, metadata = '{}')
    options = { 'backends' => backends }
    world.hiera = options
    world.compile("simpkv::put('by_function', #{value}, #{metadata})")
    documents.fetch('by_function')
  end

  { 'text' => "'text'", 'text with quotes, a tab and emoji' => '"a\"\u{1F600}\t\\\\"', 'an integer' => '42',
    'a large integer' => '9007199254740993', 'a float' => '9.898', 'true' => 'true', 'false' => 'false',
    'empty text' => "''",
    'a list' => "[1, [2.5, 'x'], {}]", 'an empty list' => '[]', 'a list of one' => "['only']",
    'a hash' => "{ 'b' => [undef], 'a' => { 'c' => true } }", 'an empty hash' => '{}', 'a binary' => "Binary('/w==')",
    'a binary inside' => "{ 'a' => Binary('/w==') }", 'a Sensitive' => "Sensitive('s')",
    'a Sensitive hash' => "Sensitive({ 'a' => [1] })", 'a Sensitive inside' => "{ 'a' => [Sensitive('s')] }",
    'a timestamp' => "Timestamp('2026-01-02T03:04:05Z')", 'a regular expression' => '/a.b/',
    'a version' => "SemVer('1.2.3')",
    'the word absent' => "'absent'", 'the word undef' => "'undef'", 'default' => 'default' }.each do |name, value|
    it "stores #{name} as simpkv::put does, and finds it unchanged in the next run" do
      manifest = "simpkv_key { 'by_type': value => #{value}, metadata => { 'n' => 1 } }"
      apply!(manifest)
      expect(documents['by_type']).to eq(stored_by_function(value, "{ 'n' => 1 }"))
      apply!(manifest)
      expect(changed).to eq([])
    end
  end

  it 'warns of a value that becomes a String, as simpkv::put does' do
    apply!("simpkv_key { 'k': value => Timestamp('2026-01-02T03:04:05Z') }")
    expect(world.warnings).to include(/\ASimpkv_key\[k\] stores a Timestamp as text, which comes back as a String: /)
  end

  # A server sends catalogs to agents in this format.
  it 'stores the same from a catalog that has travelled to an agent' do
    values = ["'text'", "Sensitive('s')", "Binary('/w==')", "{ 'a' => [Sensitive({ 'b' => 1 })] }", "['only']"]
    manifest = values.each_with_index.map { |value, n| "simpkv_key { 'k#{n}': value => #{value} }" }.join("\n")
    apply!(manifest)
    direct = documents
    store.deletetree(KeysAsResources::PRODUCTION)
    catalog = travelled(world.compile(manifest)).to_ral
    Puppet.override(current_environment: world.environment) { catalog.apply }
    expect(documents).to eq(direct)
  end

  def travelled(catalog)
    format = Puppet::Network::FormatHandler.format(:rich_data_json)
    environments = Puppet::Environments::Static.new(world.environment)
    loaders = Puppet::Pops::Loaders.new(world.environment)
    Puppet.override(rich_data: true, loaders: loaders, environments: environments,
                    current_environment: world.environment) do
      format.intern(Puppet::Resource::Catalog, format.render(catalog))
    end
  end

  it 'keeps the metadata or the value that it does not manage' do
    fill('k' => { value: 'old', metadata: { 'owner' => 'dba' } })
    apply!("simpkv_key { 'k': value => 'new' }")
    expect(documents['k']).to eq('{"value":"new","metadata":{"owner":"dba"}}')
    apply!("simpkv_key { 'k': metadata => { 'a' => 1 } }")
    expect(documents['k']).to eq('{"value":"new","metadata":{"a":1}}')
    apply!("simpkv_key { 'k': metadata => {} }")
    expect(documents['k']).to eq('{"value":"new","metadata":{}}')
    apply!("simpkv_key { 'k': ensure => present }")
    expect(changed).to eq([])
  end

  it 'refuses to make a key without a value, and says what to give' do
    apply("simpkv_key { 'k': ensure => present }")
    expect([failed, keys]).to eq([['Simpkv_key[k]'], []])
    expect(log.grep(/^err/).join).to match(/'?value'?/)
  end

  it 'compares as the store does: the spelling of a document does not matter, the type of a number and the order do' do
    fill('same' => '{ "value" : {"a":1,"b":2.50} }', 'number' => '{"value":1.0}', 'order' => '{"value":{"b":1,"a":2}}')
    before = documents['same']
    apply!(<<~PUPPET)
      simpkv_key {
        'same':   value => { 'a' => 1, 'b' => 2.5 };
        'number': value => 1;
        'order':  value => { 'a' => 2, 'b' => 1 };
      }
    PUPPET
    expect([changed, documents['same']]).to eq([key_resources('number', 'order'), before])
  end

  it 'removes a key, and is unchanged if there is none' do
    fill('app1/k' => { value: 1 }, 'app1/broken' => 'broken')
    manifest = "simpkv_key { ['app1/k', 'app1/broken', 'none', 'no/folder/none']: ensure => absent }"
    apply!(manifest)
    expect([changed, keys]).to eq([key_resources('app1/broken', 'app1/k'), []])
    apply!(manifest)
    expect(changed).to eq([])
  end

  it 'stays in the environment of its catalog' do
    testing = PuppetWorld.new(environment: 'testing', dir: world.dir)
    testing.apply("simpkv_key { 'k': value => 'testing' } simpkv_key { 'shared': value => 1, global => true }")
    apply!("simpkv_key { 'k': value => 'production' }")
    expect([keys, keys(prefix: 'environments/testing'), keys(prefix: 'globals')]).to eq([['k'], ['k'], ['shared']])
    expect(documents['k']).to include('production')
  ensure
    testing&.close
  end

  it 'makes keys with names as long as they can be, and refuses longer ones' do
    long = "#{'d' * 255}/#{'k' * 255}"
    apply!("simpkv_key { '#{long}': value => 1 }")
    expect(keys).to eq([long])
    expect { apply("simpkv_key { '#{'k' * 256}': value => 1 }") }.to raise_error(Puppet::Error)
    expect(log.grep(/^err/).join).to include('255')
    expect(keys).to eq([long])
  end

  # Other writers replace the document between the prefetch and the write.
  it 'does not lose the metadata that another writer has stored meanwhile' do
    fill('k' => { value: 'old', metadata: { 'owner' => 'first' } })
    apply!("simpkv_key { 'k': value => 'new' }") do |catalog|
      resource = catalog.resource('Simpkv_key[k]')
      provider = resource.provider.class
      allow(provider).to receive(:prefetch).and_wrap_original do |original, *arguments|
        original.call(*arguments)
        fill('k' => { value: 'other', metadata: { 'owner' => 'second' } })
      end
    end
    expect(documents['k']).to eq('{"value":"new","metadata":{"owner":"second"}}')
  end

  it 'is read and written in one batch, not one by one' do
    reads = 0
    allow_any_instance_of(Simpkv::Store).to receive(:get_many).and_wrap_original do |original, *arguments, **options|
      reads += 1
      options.empty? ? original.call(*arguments) : original.call(*arguments, **options)
    end
    fill((1..50).to_h { |n| ["k#{n}", { value: n }] })
    apply!((1..50).map { |n| "simpkv_key { 'k#{n}': value => #{n} }" }.join("\n"))
    expect([changed, reads]).to eq([[], 1])
  end
end

RSpec.describe 'simpkv_folder' do
  include_context 'with keys as resources'

  def folders
    store.tree(KeysAsResources::PRODUCTION, required: false)[:folders].sort
  end

  it 'is made with those above it, and is unchanged then' do
    apply!("simpkv_folder { 'a/b': ensure => present }")
    expect([changed, folders]).to eq([['Simpkv_folder[a/b]'], %w[a a/b]])
    apply!("simpkv_folder { 'a/b': ensure => present }")
    expect(changed).to eq([])
  end

  it 'is removed if it is empty; with keys only with recurse, else it says how many there are' do
    fill('a/b/k1' => { value: 1 }, 'a/b/k2' => { value: 1 })
    apply!("simpkv_folder { 'empty': ensure => present }")
    apply!("simpkv_folder { 'empty': ensure => absent } simpkv_folder { 'missing': ensure => absent }")
    apply("simpkv_folder { 'a/b': ensure => absent }")
    expect([failed, keys, folders]).to eq([['Simpkv_folder[a/b]'], %w[a/b/k1 a/b/k2], %w[a a/b]])
    expect(log.grep(/^err/).join).to match(/\b2\b/)
    apply!("simpkv_folder { 'a': ensure => absent, recurse => true }")
    expect([keys, folders]).to eq([[], []])
  end

  it 'is only told of with noop' do
    apply!("simpkv_folder { 'a': ensure => present }", noop: true)
    expect([with_events('noop'), folders]).to eq([['Simpkv_folder[a]'], []])
  end
end
