# frozen_string_literal: true

require 'spec_helper'
require 'simpkv'
require 'simpkv/document/plain_yaml'

RSpec.describe Simpkv::PlainYaml do
  { "a: [1, x]\n" => { 'a' => [1, 'x'] }, '{a: b}' => { 'a' => 'b' },
    "a: &b {c: 1}\nd: *b\n" => { 'a' => { 'c' => 1 }, 'd' => { 'c' => 1 } },
    "\uFEFFa: 1\n" => { 'a' => 1 },
    '' => nil, " {\"a\":\t1e3}" => { 'a' => 1000.0 }, '["\ud83d\ude00"]' => ["\u{1f600}"] }.each do |text, data|
    it "reads #{text.inspect}" do
      expect(described_class.parse(text)).to eq(data)
    end
  end

  object = 'it has a date, a symbol or another object: write text in quotes'
  { 'a symbol' => ['a: :s3cret', object], 'a date' => ['a: 2026-11-23', object],
    'an object' => ['a: !ruby/object:Object {s3cret: 1}', object],
    'a missing anchor' => ['a: *s3cret', /\Ait is neither YAML nor JSON\z/],
    'a syntax error' => ["a: 1\nb: {s3cret", /\Ait is neither YAML nor JSON: see line \d\z/],
    'bytes that are not UTF-8' => ["a: s3cret\xff", 'it is not UTF-8'] }.each do |what, (text, message)|
    it "refuses #{what}, and quotes nothing" do
      expect { described_class.parse(text) }.to raise_error(Simpkv::MalformedError, message) { |e|
        expect([e.message, e.cause]).to match([/\A((?!s3cret).)*\z/, nil])
      }
    end
  end

  describe 'bounded' do
    it 'refuses aliases and deep nesting' do
      { "a: &b s3cret\nc: *b" => 'it has an alias: write out what is repeated',
        '[' * 101 => 'it is nested too deeply: at most 100 levels',
        '- ' * 100_000 => 'it is nested too deeply: at most 100 levels' }.each do |text, message|
        expect { described_class.parse(text, bounded: true) }.to raise_error(Simpkv::MalformedError, message)
      end
    end

    it 'reads as many levels as JSON has' do
      text = "a:\n#{'- ' * 99}x"
      expect(described_class.parse(text, bounded: true)).to eq(described_class.parse(text))
    end
  end

  describe 'strict' do
    quotes = "write text that begins with '!' in quotes"
    { 'the same name twice' => ["- a: s3cret\n  b: 1\n  a: 2", 'it has the same name twice in the Hash in line 1'],
      'the same name twice in JSON' => ['[{"a": "s3cret", "a": 1}]',
                                        'it has the same name twice in the Hash in line 1'],
      'several documents' => ["- s3cret\n---\n- b", 'it has several documents: write one, without --- inside'],
      'a tag instead of a text with !' => ['- op: ! s3cret', "it has a tag in line 1: #{quotes}"],
      'another tag' => ["-\n  - !s3cret x", "it has a tag in line 2: #{quotes}"],
      'a field without quotes' => ["- a:\n- b: {s3cret.name}",
                                   /\Ait has a name without a value in the Hash in line 2: /] }
      .each do |what, (text, message)|
      it "refuses #{what}, which the parser reads as something else" do
        expect { described_class.parse(text, strict: true) }.to raise_error(Simpkv::MalformedError, message)
        expect(described_class.parse(text)).to be_a(Array)
      end
    end

    { "a:\nb: {c: null, d: ''}" => { 'a' => nil, 'b' => { 'c' => nil, 'd' => '' } },
      "a: &x {b: 1}\nc: {<<: *x, d: '{e}'}" => { 'a' => { 'b' => 1 }, 'c' => { 'b' => 1, 'd' => '{e}' } },
      "--- [!!str 5, '!eq']\n" => ['5', '!eq'] }.each do |text, data|
      it "reads #{text.inspect}" do
        expect(described_class.parse(text, strict: true)).to eq(data)
      end
    end
  end
end
