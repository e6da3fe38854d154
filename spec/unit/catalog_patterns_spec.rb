# frozen_string_literal: true

require_relative '../spec_helper'
require 'simpkv/catalog'

RSpec.describe Simpkv::Catalog::Patterns do
  def match?(pattern, *names)
    described_class.new([pattern]).match?(*names)
  end

  it 'match the whole of one of the names, and * no slash' do
    expect(match?('a*', 'abc')).to be true
    expect(match?('a*', 'a/b', 'app1/a/b')).to be false
    expect(match?('app1/*', 'a', 'app1/a')).to be true
    expect(match?('b', 'abc')).to be false
    expect(match?('*', '.hidden')).to be true
    expect(match?('**/x', 'x') && match?('**/x', 'a/b/x')).to be true
  end

  it 'are regular expressions, as such or between slashes' do
    expect([/b/, '/b/', '/^A/', '/(?i)^A/', '/a/b/'].map { |pattern| match?(pattern, 'abc', 'x/a/b') })
      .to eq([true, true, false, true, true])
  end

  it 'match names that are no text' do
    expect(match?('/^a/', "a\xFF")).to be true
    expect(match?('a*', "a\xFF")).to be true
    expect(match?('b*', "a\xFF")).to be false
  end

  it 'match nothing if there are none' do
    expect(described_class.new([]).match?('a')).to be false
  end

  it 'are refused if they are no patterns' do
    expect { described_class.new(['/(/']) }.to raise_error(Simpkv::ConfigError, %r{'/\(/' is not a regular expression})
    expect { described_class.new([5]) }.to raise_error(Simpkv::ConfigError, /not Integer/)
    expect { described_class.new(['']) }.to raise_error(Simpkv::ConfigError, /empty/)
  end
end
