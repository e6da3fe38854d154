# frozen_string_literal: true

require_relative 'conformance_helper'

Conformance.describe 'Stored bytes' do
  def bytes(key)
    stored_bytes(key)
  end

  def binary(bytes)
    Puppet::Pops::Types::PBinaryType::Binary.new(bytes.b)
  end

  # A value from Puppet may have any encoding.
  {
    'a string' => ['text', '"text"'],
    'an empty string' => ['', '""'],
    'text beyond ASCII, raw' => ["Ωé\u{1F600}", "\"Ωé\u{1F600}\""],
    'text in another encoding, transcoded' => ['é'.encode('ISO-8859-1'), '"é"'],
    'a slash, DEL and U+2028, unescaped' => ["/\u007f\u2028", "\"/\u007f\u2028\""],
    'quotes and backslashes' => ['"\\', '"\"\\\\"'],
    'control characters' => ["\u0000\u0001\b\f\n\r\t\u001f", '"\u0000\u0001\b\f\n\r\t\u001f"'],
    'integers' => [[0, -1, 2**63, -(2**70)], '[0,-1,9223372036854775808,-1180591620717411303424]'],
    'floats' => [[9.898, 0.0001, 1e-5, 1e14, 1e15, 1e20, 5e-324, -0.0, 100.0],
                 '[9.898,0.0001,1.0e-05,100000000000000.0,1.0e+15,1.0e+20,5.0e-324,-0.0,100.0]'],
    'true, false and undef' => [[true, false, nil], '[true,false,null]'],
    'hashes in their order' => [{ 'z' => 1, 'a' => { 'b' => [], 'a' => {} } }, '{"z":1,"a":{"b":[],"a":{}}}'],
    'hash keys that are no strings' => [{ 1 => 1, 2.5 => 2, true => 3, nil => 4 }, '{"1":1,"2.5":2,"true":3,"":4}']
  }.each do |what, (value, json)|
    it "are those of MRI's JSON: #{what}" do
      put('bytes/k', value)
      expect(bytes('bytes/k')).to eq("{\"value\":#{json},\"metadata\":{}}".b)
      put('bytes/k', 'v', { 'm' => value })
      expect(bytes('bytes/k')).to eq("{\"value\":\"v\",\"metadata\":{\"m\":#{json}}}".b)
    end
  end

  it 'are strict base64 for a Binary, a binary string and a string that is not valid UTF-8' do
    long = (0..255).to_a.pack('C*')
    [binary(long), long].each do |value|
      put('bytes/b', value, { 'm' => 1 })
      expect(bytes('bytes/b')).to eq("{\"value\":\"#{[long].pack('m0')}\",\"encoding\":\"base64\"," \
                                     '"original_encoding":"ASCII-8BIT","metadata":{"m":1}}')
    end
    put('bytes/b', "caf\xE9".dup.force_encoding('UTF-8'))
    expect(bytes('bytes/b')).to eq(
      '{"value":"Y2Fm6Q==","encoding":"base64","original_encoding":"ASCII-8BIT","metadata":{}}'
    )
  end

  it 'nest up to a hundred levels, including the envelope' do
    deep = (1..98).reduce([]) { |inner, _| [inner] }
    put('bytes/deep', deep)
    expect(bytes('bytes/deep')).to eq("{\"value\":#{'[' * 99}#{']' * 99},\"metadata\":{}}")
    expect(get('bytes/deep')['value']).to eq(deep)
    expect { put('bytes/deep', [deep]) }.to raise_error(RuntimeError, %r{with key='bytes/deep'.*deeper than 100})
  end

  it 'are written again if the type of a number, the order or the metadata differ' do
    [['1', 1.0, {}], ['1.0', 1, {}], ['{"a":1,"b":2}', { 'b' => 2, 'a' => 1 }, {}], ['1', 1, { 'm' => nil }],
     ['"a"', 'A', {}], ['"a "', 'a', {}], ['0.0', -0.0, {}]].each do |stored, value, metadata|
      store_raw('bytes/k', "{\"value\":#{stored},\"metadata\":{}}")
      put('bytes/k', value, metadata)
      expect(bytes('bytes/k')).to eq(Simpkv::Codec.encode(value, metadata).b)
    end
  end

  {
    'a string' => ['{"value":"x"}', { 'value' => 'x' }],
    'null metadata' => ['{"value":"x","metadata":null}', { 'value' => 'x' }],
    'unknown members' => ['{"value":"x","more":{"a":[1]},"metadata":{"m":1}}',
                          { 'value' => 'x', 'metadata' => { 'm' => 1 } }],
    'members that are there twice' => ['{"value":{"a":1,"a":2},"value":{"a":3,"b":4,"a":5}}',
                                       { 'value' => { 'a' => 5, 'b' => 4 } }],
    'U+0000 in text and in a name' => ['{"value":{"a\u0000":"b\u0000"}}', { 'value' => { "a\0" => "b\0" } }],
    'integers beyond 64 bits' => ['{"value":-123456789012345678901}', { 'value' => -123_456_789_012_345_678_901 }],
    'numbers in another spelling' => ['{"value":[1.50,1E3,-0,10e-1]}', { 'value' => [1.5, 1000.0, 0, 1.0] }],
    'escapes in another spelling' => ['{"value":"\u00e9\ud83d\ude00\/"}', { 'value' => "é\u{1F600}/" }]
  }.each do |what, (document, found)|
    it "are read with #{what}" do
      store_raw('bytes/read', document)
      expect(get('bytes/read')).to eq(found)
      expect(get('bytes/read').inspect).to eq(found.inspect)
      expect(list('bytes')['keys']).to eq('read' => found)
    end
  end

  # Such a document raised an error that softfail did not catch.
  it 'are read without metadata, with and without softfail (it crashed, and softfail did not catch it)' do
    ['{"value":7}', '{"value":7,"metadata":null}'].each do |document|
      store_raw('bytes/bare', document)
      [{}, { 'softfail' => true }].each { |options| expect(get('bytes/bare', options)).to eq('value' => 7) }
    end
    expect(world.warnings).to eq([])
  end
end
