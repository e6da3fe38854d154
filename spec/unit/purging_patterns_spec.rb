# frozen_string_literal: true

require_relative '../spec_helper'
require 'simpkv/purging'

RSpec.describe Simpkv::Purging::Patterns do
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

  it 'match all keys below a folder, with ** or a slash at the end (they matched nothing)' do
    %w[a/** a/ a/**/ /a/** **/a/** a//].each do |pattern|
      expect(%w[a/b a/b/c .x a ab/c].select { |name| match?(pattern, name) }).to eq(%w[a/b a/b/c]), pattern
    end
    %w[** **/ **/* /].each { |pattern| expect(%w[a a/b .x].all? { |name| match?(pattern, name) }).to be(true), pattern }
  end

  it 'have alternatives in braces, and slashes as keys do (both matched nothing)' do
    expect(match?('{a,b}*/x', 'b1/x') && match?('a/{b,c/**/d}', 'a/c/d')).to be true
    expect(match?('{a,b}', 'c')).to be false
    expect(match?('/a', 'a') && match?('a//b', 'a/b')).to be true
    expect(match?('[ab]', 'b') && match?('\\[', '[')).to be true
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
    ['[', 'a[b', '[ab]/[c'].each do |pattern|
      expect { described_class.new([pattern]) }
        .to raise_error(Simpkv::ConfigError, "'#{pattern}' is no glob: a '[' has no ']'. For the character itself " \
                                             "write '\\['")
    end
  end
end
