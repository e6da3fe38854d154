# frozen_string_literal: true

RSpec.describe Simpkv::Codec do
  # The documents are CONTRACT's: the bytes that the existing module writes and reads.
  describe '.encode' do
    {
      'text' => ['text', '{"value":"text","metadata":{}}'],
      'an empty text' => ['', '{"value":"","metadata":{}}'],
      'nil' => [nil, '{"value":null,"metadata":{}}'],
      'booleans' => [[true, false], '{"value":[true,false],"metadata":{}}'],
      'integers' => [[0, -1, 2**62, -2**63, 2**64], '{"value":[0,-1,4611686018427387904,-9223372036854775808,' \
                                                    '18446744073709551616],"metadata":{}}'],
      'floats' => [[9.898, 0.0001, 1e-5, 1e14, 1e15, 1e20, 5e-324, -0.0],
                   '{"value":[9.898,0.0001,1.0e-05,100000000000000.0,1.0e+15,1.0e+20,5.0e-324,-0.0],"metadata":{}}'],
      'a Symbol, as its name' => [:name, '{"value":"name","metadata":{}}'],
      'nested data, in their order' => [{ 'b' => [{ 'z' => [] }, {}], 'a' => 1 },
                                        '{"value":{"b":[{"z":[]},{}],"a":1},"metadata":{}}'],
      'control characters' => ["\u0000\b\f\n\r\t\u001f", '{"value":"\u0000\b\f\n\r\t\u001f","metadata":{}}'],
      'quotes and backslashes' => ['"\\', '{"value":"\"\\\\","metadata":{}}'],
      'a slash, DEL and U+2028, unescaped' => ["/\u007f\u2028", "{\"value\":\"/\u007f\u2028\",\"metadata\":{}}"],
      'text beyond ASCII, as it is' => ['Γειά 😀', '{"value":"Γειά 😀","metadata":{}}'],
      'text in another encoding, transcoded' => ['é'.encode('ISO-8859-1'), '{"value":"é","metadata":{}}'],
      'UTF-16 inside a value' => [['é'.encode('UTF-16LE')], '{"value":["é"],"metadata":{}}'],
      'ASCII that is tagged binary, inside a value' => [['a'.b], '{"value":["a"],"metadata":{}}'],
      'a Symbol that is not UTF-8' => [['é'.encode('ISO-8859-1').to_sym], '{"value":["é"],"metadata":{}}'],
      'binary data, in base64' => ["\xff\x00".b, '{"value":"/wA=","encoding":"base64",' \
                                                 '"original_encoding":"ASCII-8BIT","metadata":{}}'],
      'binary data that are ASCII, in base64' => ['a'.b, '{"value":"YQ==","encoding":"base64",' \
                                                         '"original_encoding":"ASCII-8BIT","metadata":{}}'],
      'text that is broken, in base64' => ["\xff", '{"value":"/w==","encoding":"base64",' \
                                                   '"original_encoding":"ASCII-8BIT","metadata":{}}'],
      'text that is broken in another encoding, in base64' => [
        "a\xff".dup.force_encoding('EUC-JP'),
        '{"value":"Yf8=","encoding":"base64","original_encoding":"ASCII-8BIT","metadata":{}}'
      ],
      'keys that are no Strings' => [{ a: 1, 2 => 2, 1.5 => 3, true => 4, false => 5, nil => 6, 2**70 => 7 },
                                     '{"value":{"a":1,"2":2,"1.5":3,"true":4,"false":5,"":6,' \
                                     '"1180591620717411303424":7},"metadata":{}}'],
      'keys that are all Symbols or all Integers' => [[{ a: 1, b: 2 }, { 1 => 1, -2 => 2 }],
                                                      '{"value":[{"a":1,"b":2},{"1":1,"-2":2}],"metadata":{}}'],
      'keys in other encodings' => [{ 'é'.encode('ISO-8859-1') => 1, 'b' => 2 },
                                    '{"value":{"é":1,"b":2},"metadata":{}}']
    }.each do |what, (value, document)|
      it "stores #{what}" do
        encoded = described_class.encode(value)
        expect(encoded.b).to eq(document.b)
        expect(encoded.encoding).to eq(Encoding::UTF_8)
      end
    end

    it 'writes metadata after the value' do
      expect(described_class.encode(1, 'b' => [1], :a => nil)).to eq('{"value":1,"metadata":{"b":[1],"a":null}}')
      expect(described_class.encode("\xff".b, 'a' => 1))
        .to eq('{"value":"/w==","encoding":"base64","original_encoding":"ASCII-8BIT","metadata":{"a":1}}')
    end

    it 'does not change its arguments' do
      value = { 'a' => ['é'.encode('ISO-8859-1').freeze].freeze }.freeze
      described_class.encode(value, {}.freeze)
      expect(value['a'].first.encoding).to eq(Encoding::ISO_8859_1)
    end

    nested = ->(depth) { (1..depth).reduce(nil) { |inner, _| [inner] } }
    cyclic = []
    cyclic << cyclic
    same_twice, many_and_twice = [[], [*'b'..'z']].map do |others|
      [*others, 'a', 'a'].each_with_object({}.compare_by_identity) { |key, hash| hash[key.dup] = 1 }
    end

    it 'nests up to a hundred levels, with the envelope' do
      expect(described_class.encode(nested.call(99))).to eq("{\"value\":#{'[' * 99}null#{']' * 99},\"metadata\":{}}")
    end

    # A thread of puppetserver has a stack of 1 MB, which this code shares with its callers.
    it 'needs less than half of the stack of a Java thread for that (it needed all)', needs: :jruby do
      found = nil
      values = [nested.call(99), (1..99).reduce(nil) { |inner, _| { 'k' => inner } }]
      run = -> { found = values.map { |value| described_class.encode(value) } }
      java.lang.Thread.new(nil, run, 'small', 512 << 10).tap(&:start).join
      expect(found.map { |document| described_class.decode(document)[:value] }).to eq(values)
    end

    {
      'an object' => [{ 'a' => [0, 1, 2, Object.new] }, "value['a'][3]: Object is not plain data"],
      'an object without any method' => [[BasicObject.new], 'value[0]: BasicObject is not plain data'],
      'a Time' => [Time.at(0), 'value: Time is not plain data'],
      'a Rational' => [[1r], 'value[0]: Rational is not plain data'],
      'NaN' => [{ 'x' => Float::NAN }, "value['x']: NaN and the infinities have no JSON"],
      'an infinity' => [[-Float::INFINITY], 'value[0]: NaN and the infinities have no JSON'],
      'binary data inside a value' => [["\xff".b], 'value[0]: binary data inside a value'],
      'broken text inside a value' => [{ 'a' => { 'b' => "\xff" } }, "value['a']['b']: text that is not valid UTF"],
      'broken ASCII inside a value' => [["\xff".dup.force_encoding('US-ASCII')], 'value[0]: text that is not valid US'],
      'text without a UTF-8 form' => [["\xff".dup.force_encoding('IBM864')], 'value[0]: text without a UTF-8 form'],
      'a broken Symbol' => [["\xff".b.to_sym], 'value[0]: binary data inside a value'],
      'a key that is an object' => [[{ [] => 1 }], 'value[0]: a key is not plain data, but Array'],
      'a key that is binary' => [[{ "\xff".b => 1 }], 'value[0]: binary data inside a value'],
      'a key that is NaN' => [[{ Float::NAN => 1 }], 'value[0]: NaN and the infinities have no JSON'],
      'keys that become the same name' => [{ '1' => 1, 1 => 2 }, "value['1']: two keys have this name"],
      'a String and a Symbol of the same name' => [{ :a => 1, 'a' => 2 }, "value['a']: two keys have this name"],
      'nil and an empty key' => [{ nil => 1, '' => 2 }, "value['']: two keys have this name"],
      'the same key in two encodings' => [{ 'é' => 1, 'é'.encode('ISO-8859-1') => 2 }, "value['é']: two keys have"],
      'keys told apart by identity alone' => [same_twice, "value['a']: two keys have this name"],
      'many keys of which two are' => [many_and_twice, "value['a']: two keys have this name"],
      'what nests too deeply' => [nested.call(100), 'nested deeper than 100'],
      'what contains itself' => [cyclic, 'nested deeper than 100'],
      'a difficult path' => [{ "it's" => { "a\nb" => Object.new } }, "value['it\\'s']['a?b']: Object is not"]
    }.each do |what, (value, message)|
      it "refuses #{what}, and names the place" do
        expect { described_class.encode(value) }
          .to raise_error(Simpkv::UnencodableError, /\Acannot encode .*#{Regexp.escape(message)}/)
      end
    end

    it 'names the place in metadata, and metadata that are not a Hash' do
      expect { described_class.encode(1, 'x' => 1i) }
        .to raise_error(Simpkv::UnencodableError, "cannot encode metadata['x']: Complex is not plain data")
      expect { described_class.encode(1, [1]) }
        .to raise_error(Simpkv::UnencodableError, 'cannot encode metadata: Array is not a Hash')
    end

    it 'never quotes a value that it refuses' do
      expect { described_class.encode(['s3cret', "s3cret\xff", Object.new]) }
        .to raise_error(Simpkv::UnencodableError) { |error|
          expect(error.message).not_to include('s3cret')
          expect(error.cause).to be_nil
        }
    end

    it 'shortens long paths' do
      deep = (1..50).reduce(Object.new) { |inner, i| { "#{i}#{'k' * 500}" => inner } }
      expect { described_class.encode(deep) }
        .to raise_error(Simpkv::UnencodableError) { |error| expect(error.message.length).to be < 1000 }
    end
  end

  describe '.decode' do
    {
      '{"value":"x","metadata":{"a":1}}' => ['x', { 'a' => 1 }],
      '{"metadata":{"a":1},"value":"x"}' => ['x', { 'a' => 1 }],
      '{"value":null}' => [nil, {}],
      '{"value":1,"metadata":null}' => [1, {}],
      '{"value":[1.5,{"a":[]}],"unknown":{"b":1}}' => [[1.5, { 'a' => [] }], {}],
      '{"value":1,"value":2}' => [2, {}],
      '{"metadata":{"a":1},"value":1,"metadata":{"b":2}}' => [1, { 'b' => 2 }],
      '{"value":{"value":1},"metadata":{"metadata":{}}}' => [{ 'value' => 1 }, { 'metadata' => {} }],
      '{"v\u0061lue":1,"metadat\u0061":{"a":1}}' => [1, { 'a' => 1 }],
      '{"value":"a\u0000b"}' => ["a\0b", {}],
      '{"value":{"a\u0000":1}}' => [{ "a\0" => 1 }, {}],
      '{"value":123456789012345678901234567890}' => [123_456_789_012_345_678_901_234_567_890, {}],
      ' { "value" : "x" } ' => ['x', {}],
      '{"value":"x","encoding":null}' => ['x', {}],
      '{"value":"YQ==","original_encoding":"ASCII-8BIT"}' => ['YQ==', {}]
    }.each do |document, (value, metadata)|
      it "reads #{document}" do
        expect(described_class.decode(document)).to eq(value: value, metadata: metadata)
      end
    end

    it 'reads base64 as a binary String' do
      decoded = described_class.decode('{"value":"/wA=","encoding":"base64","original_encoding":"ASCII-8BIT"}')
      expect(decoded).to eq(value: "\xff\x00".b, metadata: {})
      expect(decoded[:value].encoding).to eq(Encoding::BINARY)
      expect(described_class.decode('{"value":"","encoding":"base64"}')[:value].encoding).to eq(Encoding::BINARY)
    end

    it 'reads bytes that are tagged binary' do
      expect(described_class.decode('{"value":"é"}'.b)).to eq(value: 'é', metadata: {})
    end

    {
      '' => 'JSON parse error: not a JSON document',
      's3cret' => 'JSON parse error: not a JSON document',
      '{"value":"s3cret"' => 'JSON parse error: not a JSON document',
      '{"value":"s3cret"} s3cret' => 'JSON parse error: not a JSON document',
      "{\"value\":#{'[' * 100}1#{']' * 100}}" => 'JSON parse error: nested too deeply',
      '{}' => "'value' missing",
      '{"metadata":{}}' => "'value' missing",
      '["s3cret"]' => "'value' missing",
      '"s3cret"' => "'value' missing",
      '{"value":"s3cret","metadata":5}' => "'metadata' is not a Hash",
      '{"value":"s3cret","metadata":{},"metadata":5}' => "'metadata' is not a Hash",
      '{"value":"s3cret","encoding":"pcore"}' => 'Unsupported encoding',
      '{"value":"s3cret","encoding":5}' => 'Unsupported encoding',
      '{"value":"s3cret!","encoding":"base64"}' => "'value' is not base64",
      '{"value":["s3cret"],"encoding":"base64"}' => "'value' is not base64"
    }.each do |document, message|
      it "refuses #{document[0, 40].inspect} without quoting it" do
        expect { described_class.decode(document) }.to raise_error(Simpkv::MalformedError) { |error|
          expect(error.message).to eq("Failed to deserialize: #{message}")
          expect(error.cause).to be_nil
        }
      end
    end
  end
end
