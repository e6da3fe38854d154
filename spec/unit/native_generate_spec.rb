# frozen_string_literal: true

require 'json'

RSpec.describe 'Writing JSON' do
  native = Simpkv::Native

  # The extension looks at eight bytes together.
  it 'escapes quotes, backslashes and control characters alone, at each place of a text' do
    (0x00..0x7f).each do |code|
      (0...20).each do |at|
        text = 'x' * 20
        text[at] = code.chr
        expect(native.generate([text])).to eq(JSON.generate([text]))
      end
    end
  end

  # The extension collects 1000 bytes before it makes a String.
  it 'writes texts, names and escapes at the end of a chunk as elsewhere' do
    (980..1020).each do |length|
      ['', '"', "\u0001", 'é', '😀'].each do |last|
        text = "#{'x' * length}#{last}"
        document = { 'value' => [text, { text => -(2**62), "#{text}\n" => [1.5, nil, true] }], 'metadata' => {} }
        expect(native.generate(document)).to eq(JSON.generate(document))
      end
    end
  end

  it 'writes texts and documents that are larger than a chunk' do
    document = [['é"' * 5000], *(1..5000), 'x' * 100_000]
    json = native.generate(document)
    expect([json, json.encoding]).to eq([JSON.generate(document), Encoding::UTF_8])
    expect(native.parse(json)).to eq(document)
  end
end
