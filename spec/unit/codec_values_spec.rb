# frozen_string_literal: true

require 'json'
require 'simpkv/native/json_writer'
require_relative '../support/json_values'

# Stored bytes and values read back, for ten thousand values of every kind. The oracle is the json of MRI 3.1: itself
# where it runs, elsewhere the digests that it made.
RSpec.describe 'Documents of generated values', :thorough do
  codec = Simpkv::Codec
  oracle = RUBY_ENGINE == 'ruby' && JSON::VERSION == '2.6.1'

  seed = JsonValues::SEED

  before(:context) { @pairs = JsonValues.new(seed).each_pair(JsonValues::COUNT).to_a }
  after(:context) { @pairs = nil }

  attr_reader :pairs

  def reread(document)
    decoded = Simpkv::Codec.decode(document)
    [decoded[:value], decoded[:metadata]]
  end

  it "equal the output of MRI's json byte for byte (seed #{seed})" do
    digests = pairs.each_slice(JsonValues::BLOCK).map do |block|
      JsonValues.digest(block.map { |value, metadata| codec.encode(value, metadata) })
    end
    expected = JsonValues.digests
    expect(digests.length).to eq(expected.length)
    wrong = digests.each_index.reject { |i| digests[i] == expected[i] }
    expect(wrong).to eq([]), "blocks of #{JsonValues::BLOCK} values that differ: #{wrong.first(10)}"
  end

  it "are equal after reading (seed #{seed})" do
    wrong = pairs.each_index.reject do |i|
      document = codec.encode(*pairs[i])
      found = reread(document)
      found.eql?(pairs[i]) && codec.encode(*found) == document
    end
    expect(wrong).to eq([]), "#{wrong.length} values differ, the first is number #{wrong.first}"
  end

  it 'equal themselves with other spacing, and differ from each other' do
    documents = pairs.first(2000).map { |value, metadata| codec.encode(value, metadata) }
    documents.each_cons(2) do |document, other|
      spaced = document.sub('"value":', ' "value" : ')
      # jansson reads neither of these, so they are compared byte by byte.
      next if document =~ /\d{19}/ || document.include?('\u0000')

      expect(Simpkv::Native.document_same?(document, spaced)).to be(true), document
      expect(Simpkv::Native.document_same?(document, other)).to be(document == other)
    end
  end

  it 'are the same when the writer in Ruby makes them, which the FFI binding uses' do
    pairs.first(2000).each do |value, metadata|
      object = { 'value' => value, 'metadata' => metadata }
      expect(Simpkv::JsonWriter.generate(object)).to eq(Simpkv::Native.generate(object))
    end
  end

  it "write floats as MRI's Float#to_s does" do
    Cases.read('doubles.tsv').each do |bits, text|
      float = JsonValues.float(bits.hex)
      expect(Simpkv::Native.format_double(float)).to eq(text.empty? ? nil : text)
    end
  end

  if oracle
    it 'are equal to the output of JSON.generate, for the seed of this run' do
      JsonValues.new(RSpec.configuration.seed).each_pair(3000) do |value, metadata|
        document = codec.encode(value, metadata)
        expect(document).to eq(JSON.generate('value' => value, 'metadata' => metadata))
        expect(reread(document)).to eq([value, metadata])
      end
    end

    it 'write floats as Float#to_s does, for the seed of this run' do
      values = JsonValues.new(RSpec.configuration.seed)
      wrong = Array.new(100_000) { values.float }.reject { |f| Simpkv::Native.format_double(f) == f.to_s }
      expect(wrong).to eq([])
    end
  end
end
