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

  it 'converts hash keys to strings' do
    put('values/names', { 1 => 'integer', 2.5 => 'float', true => 'boolean', nil => 'undef' })
    expect(get('values/names')['value']).to eq('1' => 'integer', '2.5' => 'float', 'true' => 'boolean', '' => 'undef')
  end

  it 'refuses a hash with two keys that become the same string' do
    expect { put('values/clash', { 1 => 'a', '1' => 'b' }) }.to raise_error(RuntimeError, %r{with key='values/clash'})
    expect(exists('values/clash')).to be(false)
  end

  it 'refuses NaN and the infinities' do
    [Float::NAN, Float::INFINITY, -Float::INFINITY].each do |number|
      expect { put('values/number', { 'a' => [number] }) }.to raise_error(RuntimeError, /value\['a'\]\[0\]/)
    end
  end

  it 'returns a value that another catalog has stored' do
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

Conformance.describe 'Documents of the existing module', directories: { once: true } do
  {
    '{"value":"Sensitive [value redacted]","metadata":{}}' => 'Sensitive [value redacted]',
    '{"value":{"z":1,"a":[null,true,1.0e-05,"é\\u0000"]},"metadata":{"m":{"n":2}}}' =>
      { 'z' => 1, 'a' => [nil, true, 1.0e-05, "é\u0000"] },
    '{"value":{"__ptype":"Timestamp","__pvalue":"x"},"metadata":{}}' => { '__ptype' => 'Timestamp', '__pvalue' => 'x' },
    '{"value":"/w==","encoding":"base64","original_encoding":"ASCII-8BIT","metadata":{"m":1}}' => "\xff".b
  }.each do |document, value|
    it "are read as the existing module reads them, and not changed by a put of the same value: #{document}" do
      store_raw('existing/one', document)
      found = get('existing/one')
      expect(found['value']).to eq(value)
      put('existing/one', found['value'], found.fetch('metadata', {}))
      expect(world.adapter.plugin_instance(merged).get('environments/production/existing/one')[:result].b)
        .to eq(document.b)
    end
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

  it 'can be converted to a Binary in a manifest' do
    world.compile(<<-PUPPET)
      $bytes = Binary([0, 127, 128, 255])
      simpkv::put('binary/three', $bytes)
      unless Binary.new(simpkv::get('binary/three')['value'], '%r') == $bytes { fail('they differ') }
    PUPPET
  end

  # Older versions refused them, or stored them as text.
  it 'come back as a Binary from inside another value, and from metadata' do
    binary = Puppet::Pops::Types::PBinaryType::Binary.new(bytes)
    put('binary/four', { 'a' => [1, binary] }, { 'm' => binary })
    expect(get('binary/four')).to eq('value' => { 'a' => [1, binary] }, 'metadata' => { 'm' => binary })
  end

  it 'come back as a string of bytes beside metadata that need rich data' do
    binary = Puppet::Pops::Types::PBinaryType::Binary.new(bytes)
    { binary => bytes, bytes => bytes, "caf\xE9" => "caf\xE9".b }.each do |value, stored|
      put('binary/five', value, { 'm' => binary })
      found = get('binary/five')
      expect(found).to eq('value' => stored, 'metadata' => { 'm' => binary })
      expect(found['value'].encoding).to eq(Encoding::ASCII_8BIT)
    end
  end
end

Conformance.describe 'Sensitive values', directories: { once: true } do
  def sensitive(value)
    Puppet::Pops::Types::PSensitiveType::Sensitive.new(value)
  end

  def binary(bytes)
    Puppet::Pops::Types::PBinaryType::Binary.new(bytes.b)
  end

  def document(key)
    stored_bytes(key)
  end

  # The string "Sensitive [value redacted]" was stored.
  it 'come back as Sensitive, with their content' do
    ['hush-hush', 1, nil, ['a', { 'b' => 1.5 }], { 'user' => 'x', 'password' => 'y' }].each do |content|
      expect(put('sensitive/one', sensitive(content))).to be(true)
      found = get('sensitive/one')['value']
      expect(found).to be_a(Puppet::Pops::Types::PSensitiveType::Sensitive)
      expect(found.unwrap).to eq(content)
    end
  end

  it 'come back from inside arrays, hashes, metadata and one another, and from hash keys' do
    secret = sensitive('hush-hush')
    value = { 'list' => [1, secret], 'deep' => { 'er' => sensitive({ 'in' => [secret] }) }, secret => 1, 'z' => nil }
    put('sensitive/two', value, { 'm' => [secret], 'n' => 1 })
    found = get('sensitive/two')
    expect(found).to eq('value' => value, 'metadata' => { 'm' => [secret], 'n' => 1 })
    expect(found['value'].keys).to eq(['list', 'deep', secret, 'z'])
    expect(found['value']['deep']['er'].unwrap['in'].first.unwrap).to eq('hush-hush')
  end

  it 'come back from a list' do
    put('sensitive/three', sensitive('hush-hush'))
    put('sensitive/plain', 1)
    expect(list('sensitive')['keys'])
      .to eq('plain' => { 'value' => 1 }, 'three' => { 'value' => sensitive('hush-hush') })
  end

  it 'can be unwrapped in a manifest' do
    world.compile(<<-PUPPET)
      simpkv::put('sensitive/four', Sensitive('hush-hush'), { 'key' => Sensitive(Binary('YQ==')) })
      $found = simpkv::get('sensitive/four')
      unless $found['value'] =~ Sensitive[String] and $found['value'].unwrap == 'hush-hush' { fail('value') }
      unless $found['metadata']['key'].unwrap == Binary('YQ==') { fail('metadata') }
    PUPPET
  end

  it "are stored in Puppet's own rich data" do
    put('sensitive/bytes', { 'a' => sensitive('x'), '__ptype' => 'y' }, { 'b' => binary("\xff") })
    expect(document('sensitive/bytes')).to eq(
      '{"value":{"__ptype":"Hash","__pvalue":["a",{"__ptype":"Sensitive","__pvalue":"x"},"__ptype","y"]},' \
      '"encoding":"pcore","metadata":{"b":{"__ptype":"Binary","__pvalue":"/w=="}}}'
    )
    expect(get('sensitive/bytes')['value']).to eq('a' => sensitive('x'), '__ptype' => 'y')
  end

  it 'produce the same document each time, even if they contain an object more than once' do
    shared = sensitive(['x'])
    put('sensitive/same', [shared, shared])
    before = document('sensitive/same')
    put('sensitive/same', [sensitive(['x']), sensitive(['x'])])
    expect(document('sensitive/same')).to eq(before)
    put('sensitive/same', get('sensitive/same')['value'])
    expect(document('sensitive/same')).to eq(before)
  end

  # Puppet treats such text as a Binary.
  it 'may contain text that is tagged binary, or be beside it, and the text comes back as text' do
    put('sensitive/tagged', { 'a'.b => sensitive('b'.b), binary('c') => 'd'.b })
    expect(get('sensitive/tagged')['value']).to eq('a' => sensitive('b'), binary('c') => 'd')
  end

  it 'do not change the conversion of other types, and of hash keys, to strings' do
    put('sensitive/others', [sensitive(/a/), { 1 => :default, SemanticPuppet::Version.parse('1.2.3') => binary('b') }])
    expect(get('sensitive/others')['value'])
      .to eq([sensitive('(?-mix:a)'), { '1' => 'default', '1.2.3' => binary('b') }])
  end

  it 'are refused if they cannot be stored, without showing their content' do
    nested = ->(depth, innermost) { (1..depth).reduce(innermost) { |inner, _| { 'hush' => inner } } }
    {
      [{ 'a' => [0, sensitive({ 'hush' => [Object.new] })] }, {}] => /value\['a'\]\[1\]: inside the Sensitive, Object/,
      [1, { 'm' => sensitive(Float::NAN) }] => /metadata\['m'\]: inside the Sensitive, NaN/,
      [sensitive("hush\xff"), {}] => /value: inside the Sensitive, text that is not valid UTF-8/,
      [sensitive({ 1 => 'hush', '1' => 2 }), {}] => /value: inside the Sensitive, two keys/,
      [{ sensitive('hush') => [Object.new] }, {}] => /value\['Sensitive'\]\[0\]: Object/,
      [{ sensitive(['hush', Object.new]) => 1 }, {}] => /value: in a key, inside the Sensitive, Object/,
      [[sensitive(nested.call(98, 1))], {}] => /value\[0\]: inside the Sensitive, nested deeper than 100/,
      # It is stored as a list, which adds one level.
      [[sensitive(nested.call(96, { '__ptype' => 1 }))], {}] => /value\[0\]: inside the Sensitive, nested deeper/
    }.each do |stored, message|
      expect { put('sensitive/refused', *stored) }.to raise_error(RuntimeError, message) { |error|
        expect([error.message, error.backtrace, error.cause.inspect, world.messages].join).not_to include('hush')
      }
    end
    expect(exists('sensitive/refused')).to be(false)
  end

  it 'nest as deep as other values in their stored form' do
    deep = (1..97).reduce(1) { |inner, _| { 'a' => inner } }
    put('sensitive/deep', [sensitive(deep)])
    expect(get('sensitive/deep')['value'].first.unwrap).to eq(deep)
  end

  it 'may fail softly, without showing their content' do
    put('sensitive/softly', [sensitive(['hush', Object.new])], {}, { 'softfail' => true })
    expect(world.warnings.last).to match(/value\[0\]: inside the Sensitive, Object/)
    expect(world.messages.join).not_to include('hush')
  end

  it 'do not change the documents of plain data' do
    put('sensitive/plain', { '__ptype' => 'Sensitive', '__pvalue' => 'x' }, { 'm' => 1 })
    expect(document('sensitive/plain'))
      .to eq('{"value":{"__ptype":"Sensitive","__pvalue":"x"},"metadata":{"m":1}}')
    expect(get('sensitive/plain')['value']).to eq('__ptype' => 'Sensitive', '__pvalue' => 'x')
  end
end

Conformance.describe 'Rich data', directories: { once: true } do
  {
    'of a type that does something' => '{"value":{"__ptype":"Deferred","name":"hush","arguments":[]}',
    'of a type inside another value' => '{"value":["hush",{"a":{"__ptype":"Hush"}}]',
    'of a data type, of which Puppet makes classes' => '{"value":[{"__ptype":"Pcore::IntegerType","from":1},"hush"]',
    'that refer to themselves, which calls what they name' =>
      '{"value":[["hush"],{"__ptype":"LocalRef","__pvalue":"$[0][\'hush\']"}]',
    'of a type that is none' => '{"value":{"__ptype":{"__ptype":"Hush"}}',
    'that are no Binary' => '{"value":[{"__ptype":"Binary","__pvalue":"hush-"}]',
    'that are no Timestamp' => '{"value":{"__ptype":"Timestamp","__pvalue":"hush"}',
    'with metadata that are no hash' => '{"metadata":{"__ptype":"Sensitive","__pvalue":"hush"},"value":1'
  }.each do |what, document|
    it "are refused #{what}, without showing them" do
      store_raw('rich/broken', "#{document},\"encoding\":\"pcore\"}")
      expect { get('rich/broken') }.to raise_error(RuntimeError, /Failed to deserialize: not rich data/) { |error|
        expect(error.message.downcase).not_to include('hush')
        expect(error.cause).to be_nil
      }
      expect(list('rich', { 'skip_undecodable' => true })['keys']).to eq({})
    end
  end
end

Conformance.describe "Values of Puppet's own types", directories: { once: true } do
  it 'are stored as strings if JSON has no such type' do
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

  it 'are stored as a string if they are a Timestamp' do
    world.compile("simpkv::put('types/time', Timestamp('2020-02-29T12:34:56.789 UTC'))")
    expect(get('types/time')['value']).to start_with('2020-02-29T12:34:56.789')
  end

  it 'are returned unchanged with the option rich_data' do
    world.compile(<<-PUPPET)
      $all = {
        'regexp'    => /ab+c/,
        'version'   => SemVer('1.2.3-rc1'),
        'range'     => SemVerRange('>=1.0.0 <2.0.0'),
        'timestamp' => Timestamp('2020-02-29T12:34:56.789123456 UTC'),
        'timespan'  => Timespan({ 'hours' => 1, 'milliseconds' => 500 }),
        'uri'       => URI('https://example.com/a?b#c'),
        'default'   => default,
        'keys'      => { 1 => 'a', default => SemVer('2.0.0'), [1] => undef, Sensitive('s') => Sensitive(/x/) },
      }
      simpkv::put('types/rich', $all, { 'm' => SemVer('3.0.0') }, { 'rich_data' => true })
      $found = simpkv::get('types/rich')
      $all.each |$name, $value| {
        unless $found['value'][$name] == $value { fail("${name} differs") }
      }
      unless $found['metadata'] == { 'm' => SemVer('3.0.0') } { fail('metadata differ') }
    PUPPET
  end

  # To restore a data type, Puppet would evaluate the document.
  it 'are stored as strings if they are data types, even with the option rich_data' do
    world.compile(<<-PUPPET)
      simpkv::put('types/data', [Integer[1, 2], File['/x'], { String => 1 }], {}, { 'rich_data' => true })
    PUPPET
    expect(get('types/data')).to eq('value' => ['Integer[1, 2]', "File['/x']", { 'String' => 1 }])
  end

  # Puppet restores such a Regexp with other options.
  it 'come back equivalent with the option rich_data if they are a Regexp beyond ASCII' do
    put('types/regexp', [/é+/, /a.b/im], {}, { 'rich_data' => true })
    expect(get('types/regexp')['value'].map(&:to_s)).to eq(['(?-mix:é+)', '(?mi-x:a.b)'])
  end

  it 'do not change the documents of plain data with the option rich_data' do
    put('types/plain', { 'a' => [1, nil, '__ptype'], '__ptype' => 'x' }, { 'm' => true }, { 'rich_data' => true })
    expect(stored_bytes('types/plain'))
      .to eq('{"value":{"a":[1,null,"__ptype"],"__ptype":"x"},"metadata":{"m":true}}')
  end

  it 'are refused with the option rich_data if Puppet would return another value' do
    short = Puppet::Pops::Time::Timespan.new(5)
    expect { put('types/changed', { 'a' => [short] }, {}, { 'rich_data' => true }) }
      .to raise_error(RuntimeError, /value\['a'\]\[0\]: Timespan does not come back as it is/)
    expect(exists('types/changed')).to be(false)
  end

  it 'are refused if the option rich_data is neither true nor false' do
    expect { put('types/option', 1, {}, { 'rich_data' => 'perhaps' }) }
      .to raise_error(ArgumentError, /simpkv Configuration Error.*'rich_data'/)
  end

  it 'are refused, with their place, if they have no useful string, as a lambda' do
    [false, true].each do |rich|
      expect { put('types/other', { 'a' => [0, 1, 2, Object.new] }, {}, { 'rich_data' => rich }) }
        .to raise_error(RuntimeError, /value\['a'\]\[3\]: Object is not plain data/)
      expect { put('types/other', 1, { 'x' => Time.at(0) }, { 'rich_data' => rich }) }
        .to raise_error(RuntimeError, /metadata\['x'\]: Time is not plain data/)
    end
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

  # Such a document raised an error despite softfail.
  it 'are absent if the document has none' do
    store_raw('metadata/missing', '{"value":7}')
    store_raw('metadata/null', '{"value":8,"metadata":null}')
    expect(get('metadata/missing')).to eq('value' => 7)
    expect(list('metadata')['keys']).to eq('missing' => { 'value' => 7 }, 'null' => { 'value' => 8 })
  end
end
