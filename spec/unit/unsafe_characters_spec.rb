# frozen_string_literal: true

require_relative '../spec_helper'
require 'json'
require 'simpkv/unsafe_characters'

RSpec.describe Simpkv::UnsafeCharacters, :once do
  letters = ->(pattern) { [*0..0xd7ff, *0xe000..0x10ffff].pack('U*').scan(pattern) }
  # Unicode calls characters that nobody sees default ignorable.
  unsafe = letters.call(/[\p{Cc}\p{Z}\p{Default_Ignorable_Code_Point}]/) - [' ', "\n"]

  # The command printed those that are no control characters as they are.
  it 'are escaped for people: controls, separators, and what Unicode ignores in display' do
    text = described_class.escaped("a#{unsafe.join}b\n")
    expect(text).to match(/\Aa[ -~]+b\n\z/)
    expect(text).to include('\x1B', '\xA0', '\u{200B}', '\u{202E}', '\u{E0041}')
  end

  it 'are escaped in JSON, which stays equal' do
    json = JSON.generate([unsafe.join])
    expect(described_class.escaped_in_json(json)).to match(/\A[ -~]+\z/)
    expect(JSON.parse(described_class.escaped_in_json(json))).to eq([unsafe.join])
  end

  it 'are no letters, marks, digits or signs that people see' do
    visible = %w[é ß Ω א ي 漢 😀] << 'ä' << "e\u0301" << "\u0600"
    expect(described_class.escaped(visible.join)).to eq(visible.join)
  end

  it 'are escaped beside bytes that are not UTF-8' do
    expect(described_class.escaped("a\xff\u200b".b)).to eq('a\\xFF\\u{200B}')
  end
end
