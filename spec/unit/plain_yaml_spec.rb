# frozen_string_literal: true

require 'spec_helper'
require 'simpkv'
require 'simpkv/plain_yaml'

RSpec.describe Simpkv::PlainYaml do
  { "a: [1, x]\n" => { 'a' => [1, 'x'] }, '{a: b}' => { 'a' => 'b' },
    "a: &b {c: 1}\nd: *b\n" => { 'a' => { 'c' => 1 }, 'd' => { 'c' => 1 } },
    '' => nil, " {\"a\":\t1e3}" => { 'a' => 1000.0 }, '["\ud83d\ude00"]' => ["\u{1f600}"] }.each do |text, data|
    it "reads #{text.inspect}" do
      expect(described_class.parse(text)).to eq(data)
    end
  end

  object = 'it has a date, a symbol or another object: write text in quotes'
  { 'a symbol' => ['a: :s3cret', object], 'a date' => ['a: 2026-11-23', object],
    'an object' => ['a: !ruby/object:Object {s3cret: 1}', object],
    'a missing anchor' => ['a: *s3cret', /\APsych::(BadAlias|AnchorNotDefined)\z/],
    'a syntax error' => ["a: 1\nb: {s3cret", /\APsych::SyntaxError in line \d\z/],
    'bytes that are not UTF-8' => ["a: s3cret\xff", 'not UTF-8'] }.each do |what, (text, message)|
    it "refuses #{what}, and quotes nothing" do
      expect { described_class.parse(text) }.to raise_error(Simpkv::MalformedError, message) { |e|
        expect([e.message, e.cause]).to match([/\A((?!s3cret).)*\z/, nil])
      }
    end
  end
end
