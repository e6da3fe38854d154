# frozen_string_literal: true

require 'bigdecimal'
require 'json'
require 'simpkv/native/json_reader'
require 'simpkv/native/json_writer'
require_relative '../support/another_ruby'
require_relative '../support/json_values'

# Simpkv::Native.parse returns the result of JSON.parse, or both refuse. It also refuses a number that no Float holds,
# which JSON.parse takes for Infinity or 0.0.
RSpec.describe 'Reading JSON' do
  native = Simpkv::Native

  # Returns every visible property of an object: class, encoding, frozen or not, the order of members.
  def self.describe_fully(object)
    case object
    when String then [object.class, object.encoding, object.frozen?, object.b]
    when Array then [object.frozen?, object.map { |element| describe_fully(element) }]
    when Hash then [object.frozen?, object.compare_by_identity?, object.default,
                    object.map { |name, value| [describe_fully(name), describe_fully(value)] }]
    when Float then JsonValues.bits(object)
    else object
    end
  end

  def self.outcome(malformed)
    describe_fully(yield)
  rescue malformed, EncodingError
    :refused
  end

  # The reader refuses invalid UTF-8 on all Rubies; the JSON parsers of some Rubies read it.
  def self.reference(document)
    text = document.encoding == Encoding::BINARY ? document.dup.force_encoding(Encoding::UTF_8) : document
    return :refused unless text.valid_encoding?

    options = { max_nesting: 100, allow_duplicate_key: true }
    outcome(JSON::ParserError) do
      next :refused if beyond_float?(JSON.parse(document, decimal_class: BigDecimal, **options))

      JSON.parse(document, **options)
    end
  end

  def self.beyond_float?(object)
    case object
    when Array then object.any? { |element| beyond_float?(element) }
    when Hash then object.values.any? { |element| beyond_float?(element) }
    when BigDecimal then object.to_f.infinite? || object.to_f.zero? != object.zero?
    end
  end

  compare = lambda do |document|
    [outcome(Simpkv::MalformedError) { Simpkv::Native.parse(document) }, reference(document)]
  end

  def self.mutate(values, document)
    fragments = ['\\u', '\\ud83d', '1e', '//', '/**/', 'NaN', '0', '-', '[', '{"a":']
    bytes = document.b
    (values.random(3) + 1).times do
      at = values.random(bytes.bytesize + 1)
      case values.random(4)
      when 0 then bytes.slice!(at, values.random(4) + 1)
      when 1 then bytes.insert(at, "\"\\{}[]:,0.e-+ntf\xff\x00\n u".b[values.random(24)].to_s)
      when 2 then bytes.insert(at, fragments[values.random(fragments.length)])
      else bytes.setbyte(at, values.random(256)) if at < bytes.bytesize
      end
    end
    bytes.force_encoding(Encoding::UTF_8)
  end
  mutate = method(:mutate)

  table = Cases.read('json.tsv')

  table.each do |document, verdict, written|
    it "reads #{document.inspect} as JSON.parse does" do
      mine, theirs = compare.call(document)
      expect(mine).to eq(theirs)
      expect(native.generate(native.parse(document)).b).to eq(written.b) if verdict == 'read'
    end
  end

  # In the extension, and in libsimpkv.so for FFI, another reader than that of Native.parse reads most documents.
  { '{"value":%s,"metadata":{"a":1}}' => :value, '{"value":1,"metadata":%s}' => :metadata }.each do |form, member|
    it "reads each as the #{member} of a document as JSON.parse does, or leaves it" do
      read = table.map do |text, _, _|
        document = form.b.sub('%s') { text.b }.force_encoding(text.encoding)
        plain = native.plain_document(document) or next
        expected = JSON.parse(text, max_nesting: 100)
        expected = {} if member == :metadata && expected.nil?
        expect(self.class.describe_fully(plain[member])).to eq(self.class.describe_fully(expected)), document
        expect([plain.keys,
                plain]).to eq([%i[value metadata], { value: 1, metadata: { 'a' => 1 } }.merge(member => expected)])
        plain
      end
      expect(read.compact.length).to be > 5
    end
  end

  it 'leaves a document in another encoding, and one with other members, to Codec' do
    ['{"value":1}'.encode('UTF-16LE'), '{"value":1}'.encode('US-ASCII'), '{"value":1,"encoding":"base64"}',
     '{"value":1,"metadata":[]}', '{"metadata":{}}', '[]', '', '{"value":1}x'].each do |document|
      plain = native.plain_document(document)
      expect(plain).to be_nil.or eq(value: 1, metadata: {})
      expect(plain).to be_nil unless document.encoding == Encoding::US_ASCII
    end
    expect(native.plain_document('{"value":1,"metadata":null}')).to eq(value: 1, metadata: {})
  end

  if native.binding_name == 'cext'
    it 'reads usual documents natively, and leaves the others to JSON.parse' do
      allow(Simpkv::JsonReader).to receive(:parse).and_raise(Simpkv::MalformedError, 'left')
      table.each do |document, verdict, _|
        outcome = begin
          native.parse(document)
          'read'
        rescue Simpkv::MalformedError
          'refused'
        end
        expect([document, outcome]).to eq([document, verdict])
      end
    end

    # The reader called String#-@, which a program can replace, for an escaped name, and then read freed memory.
    it 'reads the original document, even if Ruby code changes the String meanwhile' do
      script = <<~'RUBY'
        require 'simpkv'
        document = %({"value":{"\\u0062":"#{'b' * 10_000}"},"metadata":{"\\u0063":"#{'c' * 10_000}"}})
        readers = [->(text) { Simpkv::Native.parse(text).values_at('value', 'metadata') },
                   ->(text) { Simpkv::Native.plain_document(text).values_at(:value, :metadata) }]
        change = nil
        String.prepend(Module.new { define_method(:-@) { change&.call && super() } })
        readers.each do |reader|
          given = document + ''
          change = lambda do
            given.clear
            @others = Array.new(100) { 'x' * document.bytesize }
          end
          read = reader.call(given)
          change = nil
          puts read == [{ 'b' => 'b' * 10_000 }, { 'c' => 'c' * 10_000 }]
        end
      RUBY
      output = IO.popen([*AnotherRuby.command('-e', script), { err: %i[child out] }], &:read)
      expect(output.lines(chomp: true)).to eq(%w[true true])
    end

    it 'reads documents with times and a history natively, as Ruby reads them' do
      times = '"stored_at":"2026-11-23T15:00:00Z","expires":"2026-11-23T16:00:00Z"'
      documents = [%({"value":1,"metadata":{"a":2},#{times}}), %({#{times},"history":[{"value":[0]}],"value":{"b":1}}),
                   %({"value":1,#{times},"history":3}), '{"value":1,"expires":null}', '{"value":1,"expires":[5]}',
                   '{"value":1,"metadata":{},"history":[{"value":"\u00e9"}]}',
                   %({"value":1,"history":[[[]],{"é":{"a":["é",1e5,true,null,-0.5]}},"x"],#{times},"metadata":null})]
      read = documents.map { |document| Simpkv::Codec.decode(document) }
      expect(documents.map { |document| Simpkv::Native.plain_document(document) }).to eq(read)
      allow(Simpkv::Native).to receive(:plain_document)
      expect(documents.map { |document| Simpkv::Codec.decode(document) }).to eq(read)
      expect(read.map(&:keys).uniq).to eq([%i[value metadata expires], %i[value metadata]])
    end

    it 'refuses a history that is not JSON, whichever reader passes over it' do
      deep = "#{'[' * 100}#{']' * 100}"
      ['[', '[1,]', '{"a"}', '{"a":1', ']', "[\"\xFF\"]", "{\"\xFF\":1}", '"\ud800"', deep].each do |history|
        bytes = "{\"value\":1,\"history\":#{history}}"
        expect(Simpkv::Native.plain_document(bytes)).to be_nil
      end
    end

    it 'writes usual values natively' do
      allow(Simpkv::JsonWriter).to receive(:generate).and_raise('left')
      JsonValues.new(1).each_pair(500) { |value, metadata| Simpkv::Codec.encode(value, metadata) }
    end
  end

  it 'reads every prefix of a document as JSON.parse does' do
    documents = [
      '{"value":{"a":[1,-2.5e+3,1.0E-5,true,false,null,"x\u00e9\ud83d\ude00\n\"",{}]},"metadata":{"é":"😀"}}',
      "[ [\t] , {\"\" : -0.0 ,\r\n\"a\":[[1]]} ]",
      '{"value":"YQ==","encoding":"base64","original_encoding":"ASCII-8BIT","metadata":{}}'
    ]
    documents.each do |document|
      (0..document.bytesize).each do |size|
        mine, theirs = compare.call(document.byteslice(0, size))
        expect(mine).to eq(theirs)
      end
    end
  end

  it 'reads every depth as JSON.parse does' do
    [1, 50, 99, 100, 101, 102, 1000].each do |depth|
      ["#{'[' * depth}1#{']' * depth}", "#{'{"a":' * depth}1#{'}' * depth}", '[' * depth].each do |document|
        mine, theirs = compare.call(document)
        expect(mine).to eq(theirs)
        expect(mine == :refused).to be(depth > 100 || document.end_with?('['))
      end
    end
  end

  it 'reads huge documents as JSON.parse does' do
    long = "[\"#{'x' * 3_000_000}é#{'\\n' * 1000}\"]"
    wide = "[#{(['{"a":1.5,"b":[]}'] * 50_000).join(',')}]"
    members = "{#{(0...50_000).map { |i| "\"k#{i % 40_000}\":#{i}" }.join(',')}}"
    digits = "[#{'9' * 10_000}]"
    [long, wide, members, digits].each do |document|
      mine, theirs = compare.call(document)
      expect(mine == theirs).to be(true), "#{document[0, 20]}... differs"
      expect(mine).not_to eq(:refused)
    end
  end

  # They became Infinity, which nothing can write, and 0.0.
  it 'refuses a number that is beyond a Float, wherever it is' do
    digits = '9' * 250
    beyond = %W[1e400 -1e400 1E+309 1e-400 -0.5e-324 1e0000400 #{digits}e99 #{digits}#{digits}.0 0.#{'0' * 400}1]
    beyond.each do |number|
      [number, "{\"a\":[\"\\\"\",#{number}]}", "[#{number}]".encode('UTF-16LE')].each do |document|
        expect { native.parse(document) }
          .to raise_error(Simpkv::MalformedError, 'a number is too large or too near to zero for a Float')
      end
    end
  end

  it 'reads numbers that a Float holds, and texts that look like others' do
    { '1.7976931348623157e308' => Float::MAX, '5e-324' => 5e-324, '0e999' => 0.0, '-0.0e-999' => -0.0,
      '0.1234567890123456789012345678901234567890' => 0.12345678901234568, '["1e400","\\"1e400"]' => %w[1e400 "1e400],
      '{"1e-400":1}' => { '1e-400' => 1 }, '9' * 500 => Integer('9' * 500) }.each do |document, value|
      expect(native.parse(document)).to eql(value)
    end
  end

  it 'reads repeated members as JSON.parse does' do
    ['{"a":1,"b":2,"a":3}', '{"a":1,"\u0061":2}', "{#{(['"a":1,"b":2'] * 100).join(',')}}"].each do |document|
      mine, theirs = compare.call(document)
      expect(mine).to eq(theirs)
    end
  end

  it 'reads numbers of any spelling as JSON.parse does' do
    values = JsonValues.new(RSpec.configuration.seed)
    digit = ->(count) { Array.new(count) { values.random(10) }.join }
    20_000.times do
      text = values.random(4).zero? ? '-' : ''
      text += values.random(3).zero? ? '0' : values.random(10**(values.random(20) + 1)).to_s
      text += ".#{digit.call(values.random(30) + 1)}" unless values.random(4).zero?
      text += "#{%w[e E e+ e-][values.random(4)]}#{values.random(320)}" if values.random(2).zero?
      # A number that overflows is Infinity in both, but Ruby prints a warning.
      next if text =~ /[eE]\+?(\d+)\z/ && text.index(/[.eE]/) + Regexp.last_match(1).to_i > 305

      mine, theirs = compare.call(text)
      expect([text, mine]).to eq([text, theirs])
    end
  end

  it 'reads corrupted documents as JSON.parse does' do
    values = JsonValues.new(RSpec.configuration.seed)
    4000.times do |i|
      document = mutate.call(values, Simpkv::Codec.encode(values.value(i % 4), 'm' => values.string))
      # json 3.1 treats an exponent of many digits as a large one, even if all digits are zeros as in
      # "1e00000000000000000000", which is 1.
      next if document.b.match?(/[eE][+-]?\d{9}/n)

      mine, theirs = compare.call(document)
      expect([document, mine]).to eq([document, theirs])
    end
  end

  it 'reads text in other encodings as JSON.parse does' do
    text = '["é",1.5]'
    [text.b, text.encode('UTF-16LE'), text.encode('ISO-8859-1'), '["a"]'.dup.force_encoding('US-ASCII'),
     '["a"]'.encode('UTF-32BE')].each do |document|
      mine, theirs = compare.call(document)
      expect(mine).to eq(theirs)
    end
  end

  it 'refuses an object that is not a String' do
    [nil, 1, [], {}].each { |object| expect { native.parse(object) }.to raise_error(TypeError) }
  end

  it 'never creates objects from documents, whatever json_class says' do
    document = '{"json_class":"String","raw":[97]}'
    expect(native.parse(document)).to eq('json_class' => 'String', 'raw' => [97])
  end
end
