# frozen_string_literal: true

require_relative 'conformance_helper'

Conformance.describe 'Values' do
  {
    'an empty string' => '',
    'a string' => 'some text',
    'a string with quotes, slashes and control characters' => "\"a\" \\ / \b\f\n\r\t\u0000\u001f\u007f\u2028",
    'Greek' => 'καλημέρα κόσμε',
    'emoji' => "\u{1F600} \u{1F468}\u200D\u{1F469}\u200D\u{1F467}",
    'a string that looks like JSON' => '{"value":1}',
    'a string of 200,000 characters' => 'é' * 200_000,
    'an integer' => 42,
    'the smallest integer of 64 bits' => -9_223_372_036_854_775_808,
    'the largest integer of 64 bits' => 9_223_372_036_854_775_807,
    'a float' => 9.898,
    'a whole float' => 100.0,
    'a tiny float' => 5.0e-324,
    'a huge float' => 1.7976931348623157e+308,
    'true' => true,
    'false' => false,
    'an empty array' => [],
    'an array' => [1, 'two', 3.0, true, nil, ['deep']],
    'an empty hash' => {},
    'a nested hash' => { 'b' => { 'z' => [1, { 'y' => nil }] }, 'a' => 1 }
  }.each do |description, value|
    it "returns #{description} as it was stored" do
      expect(put('values/one', value)).to be(true)
      found = get('values/one')['value']
      expect(found).to eq(value)
      expect(found.class).to eq(value.class)
    end
  end

  it 'keeps the order of hashes' do
    put('values/order', { 'z' => 1, 'a' => 2, 'm' => 3 })
    expect(get('values/order')['value'].keys).to eq(%w[z a m])
  end

  it 'makes strings of hash keys that are none' do
    put('values/names', { 1 => 'integer', 2.5 => 'float', true => 'boolean', nil => 'undef' })
    expect(get('values/names')['value']).to eq('1' => 'integer', '2.5' => 'float', 'true' => 'boolean', '' => 'undef')
  end

  it 'refuses a hash two keys of which become the same string' do
    expect { put('values/clash', { 1 => 'a', '1' => 'b' }) }.to raise_error(RuntimeError, %r{with key='values/clash'})
    expect(exists('values/clash')).to be(false)
  end

  it 'refuses NaN and the infinities' do
    [Float::NAN, Float::INFINITY, -Float::INFINITY].each do |number|
      expect { put('values/number', { 'a' => [number] }) }.to raise_error(RuntimeError, /value\['a'\]\[0\]/)
    end
  end

  it 'returns what was stored in another catalog' do
    put('values/lasting', 'still here')
    world.fresh_catalog
    expect(get('values/lasting')).to eq('value' => 'still here')
  end

  it 'replaces value and metadata' do
    put('values/replaced', 'long enough to leave something behind', { 'a' => 1 })
    put('values/replaced', 1)
    expect(get('values/replaced')).to eq('value' => 1)
  end
end

Conformance.describe 'Binary values' do
  let(:bytes) { (0..255).to_a.pack('C*') }

  it 'come back as a string of bytes from a Binary' do
    put('binary/one', Puppet::Pops::Types::PBinaryType::Binary.new(bytes))
    value = get('binary/one')['value']
    expect(value).to eq(bytes)
    expect(value.encoding).to eq(Encoding::ASCII_8BIT)
  end

  it 'come back as a string of bytes from a string that is not valid UTF-8' do
    put('binary/two', "caf\xE9".dup.force_encoding('UTF-8'))
    expect(get('binary/two')['value']).to eq("caf\xE9".b)
  end

  it 'can be made a Binary again in a manifest' do
    world.compile(<<-PUPPET)
      $bytes = Binary([0, 127, 128, 255])
      simpkv::put('binary/three', $bytes)
      unless Binary.new(simpkv::get('binary/three')['value'], '%r') == $bytes { fail('they differ') }
    PUPPET
  end

  it 'are refused inside another value, where they would come back as something else' do
    binary = Puppet::Pops::Types::PBinaryType::Binary.new('bytes'.b)
    expect { put('binary/four', { 'a' => [1, binary] }) }.to raise_error(RuntimeError, /value\['a'\]\[1\].*Binary/)
    expect { put('binary/four', 1, { 'm' => binary }) }.to raise_error(RuntimeError, /metadata\['m'\].*Binary/)
    expect(exists('binary/four')).to be(false)
  end
end

Conformance.describe "Values of Puppet's own types" do
  # DEFECTS 5: the string "Sensitive [value redacted]" was stored.
  it 'refuses a Sensitive, anywhere, without showing what is in it' do
    sensitive = Puppet::Pops::Types::PSensitiveType::Sensitive.new('hush-hush')
    [[sensitive, {}], [{ 'a' => [sensitive] }, {}], [{ sensitive => 1 }, {}],
     [1, { 'm' => sensitive }]].each do |stored|
      expect { put('types/secret', *stored) }.to raise_error(RuntimeError, /Sensitive/) { |error|
        expect(error.message).not_to include('hush-hush')
      }
    end
    expect(exists('types/secret')).to be(false)
  end

  it 'stores types that JSON has no word for as strings' do
    world.compile(<<-PUPPET)
      simpkv::put('types/all', {
        'regexp'    => /ab+c/,
        'version'   => SemVer('1.2.3'),
        'range'     => SemVerRange('>=1.0.0 <2.0.0'),
        'timespan'  => Timespan({ 'hours' => 1 }),
        'type'      => Integer[1, 2],
        'reference' => File['/etc/passwd'],
        'default'   => default,
        'list'      => [SemVer('2.0.0')],
      })
    PUPPET
    expect(get('types/all')['value']).to eq(
      'regexp' => '(?-mix:ab+c)', 'version' => '1.2.3', 'range' => '>=1.0.0 <2.0.0', 'timespan' => '0-01:00:00.0',
      'type' => 'Integer[1, 2]', 'reference' => "File['/etc/passwd']", 'default' => 'default', 'list' => ['2.0.0']
    )
  end

  it 'stores a Timestamp as its string' do
    world.compile("simpkv::put('types/time', Timestamp('2020-02-29T12:34:56.789 UTC'))")
    expect(get('types/time')['value']).to start_with('2020-02-29T12:34:56.789')
  end

  it 'refuses what has no sensible string, such as a lambda, and names its place' do
    expect { put('types/other', { 'a' => [Object.new] }) }.to raise_error(RuntimeError, /value\['a'\]\[0\]/)
  end
end

Conformance.describe 'Metadata' do
  it 'come back with the value' do
    metadata = { 'made_by' => 'host1', 'nested' => { 'list' => [1, 2.5, nil, true], 'text' => 'Ω' } }
    put('metadata/one', 'v', metadata)
    expect(get('metadata/one')).to eq('value' => 'v', 'metadata' => metadata)
  end

  it 'are absent when there are none' do
    put('metadata/none', 'v', {})
    expect(get('metadata/none')).to eq('value' => 'v')
    expect(list('metadata')['keys']).to eq('none' => { 'value' => 'v' })
  end

  it 'can be removed and added later' do
    put('metadata/changing', 'v', { 'a' => 1 })
    put('metadata/changing', 'v')
    expect(get('metadata/changing')).to eq('value' => 'v')
    put('metadata/changing', 'v', { 'b' => 2 })
    expect(get('metadata/changing')['metadata']).to eq('b' => 2)
  end

  # DEFECTS 20: such a document crashed, past softfail.
  it 'count as none in a document that has none' do
    store_raw('metadata/missing', '{"value":7}')
    store_raw('metadata/null', '{"value":8,"metadata":null}')
    expect(get('metadata/missing')).to eq('value' => 7)
    expect(list('metadata')['keys']).to eq('missing' => { 'value' => 7 }, 'null' => { 'value' => 8 })
  end
end
