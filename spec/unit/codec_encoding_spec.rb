# frozen_string_literal: true

require 'simpkv/native/json_writer'

# A caller can use an encoding of its own, as the Puppet module does for rich data.
RSpec.describe 'Documents in an encoding of the caller' do
  codec = Simpkv::Codec
  document = '{"value":{"a":[1]},"encoding":"own","metadata":{"m":"x"}}'

  it 'name it between value and metadata' do
    expect(codec.encode({ 'a' => [1] }, { 'm' => 'x' }, 'own')).to eq(document)
  end

  it 'are returned undecoded to a caller that names the encoding' do
    expect(codec.decode(document, foreign: 'own'))
      .to eq(value: { 'a' => [1] }, metadata: { 'm' => 'x' }, encoding: 'own')
    expect(codec.decode('{"value":1,"encoding":"own"}', foreign: 'own')).to eq(value: 1, metadata: {}, encoding: 'own')
  end

  it 'are refused by other callers' do
    [{}, { foreign: 'other' }].each do |options|
      expect { codec.decode(document, **options) }
        .to raise_error(Simpkv::MalformedError, 'Failed to deserialize: Unsupported encoding')
    end
  end

  it 'do not change other documents' do
    expect(codec.decode('{"value":1}', foreign: 'own')).to eq(value: 1, metadata: {})
    expect(codec.decode('{"value":"YQ==","encoding":"base64"}', foreign: 'own')).to eq(value: 'a'.b, metadata: {})
  end

  it 'cause errors that name the place of an invalid value' do
    expect { codec.encode([Object.new], {}, 'own') }
      .to raise_error(Simpkv::UnencodableError, 'cannot encode value[0]: Object is not plain data')
    expect { codec.encode(1, [], 'own') }.to raise_error(Simpkv::UnencodableError, /Array is not a Hash/)
  end
end

RSpec.describe 'Code that converts other objects to plain data' do
  writer = Simpkv::JsonWriter

  it 'names the place of a value that it refuses' do
    refuse = -> { writer.within('a') { writer.within(3) { writer.scalar(Object.new) } } }
    expect { writer.located { writer.within('value', &refuse) } }.to raise_error(
      Simpkv::UnencodableError, "cannot encode value['a'][3]: Object is not plain data"
    ) { |error| expect(error.cause).to be_nil }
  end

  it 'converts scalars to the form in which they are read back' do
    expect([writer.scalar(:é), writer.scalar('é'.encode('ISO-8859-1')), writer.scalar('a'.b)]).to eq(%w[é é a])
    expect([writer.scalar('a'.b), writer.name_of('a'.b), writer.name_of(1)].map(&:encoding)).to all(eq(Encoding::UTF_8))
    expect([1, 2.5, true, false, nil].map { |value| writer.scalar(value) }).to eq([1, 2.5, true, false, nil])
  end
end
