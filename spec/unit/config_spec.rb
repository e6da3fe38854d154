# frozen_string_literal: true

require 'English'
require 'simpkv/config'

RSpec.describe Simpkv::Config do
  let(:file) { { 'type' => 'file', 'id' => 'x' } }

  def chosen(backend)
    { 'backend' => 'b', 'backends' => { 'b' => backend } }
  end

  describe '.typed' do
    it 'fills in defaults and leaves out what has none' do
      expect(described_class.typed(file, 'b')).to eq(
        'type' => 'file', 'id' => 'x', 'case_sensitive' => false, 'lock_timeout_seconds' => 5
      )
    end

    {
      'lock_timeout_seconds' => { 0 => 0, 0.5 => 0.5, '7' => 7.0, '2.5' => 2.5 },
      'root_path' => { '/a/b' => '/a/b', '/a//b/' => '/a/b', '/' => '/' },
      'case_sensitive' => { true => true, 'true' => true, 'false' => false }
    }.each do |name, cases|
      cases.each do |given, expected|
        it "takes #{given.inspect} for #{name}" do
          expect(described_class.typed(file.merge(name => given), 'b')[name]).to eq(expected)
        end
      end
    end

    {
      'lock_timeout_seconds' => [-1, '-1', 'soon', '', true, [], Float::NAN, Float::INFINITY],
      'root_path' => ['relative', '', 5, "/a\0b", ['/a']],
      'case_sensitive' => ['yes', 1, ''],
      'id' => ['', 5, '..', 'a/../b', './a', "a\0"]
    }.each do |name, values|
      values.each do |value|
        it "refuses #{value.inspect} for #{name}, names the option and does not show the value" do
          expect { described_class.typed(file.merge(name => value), 'b') }.to raise_error(
            Simpkv::ConfigError, /\A'#{name}' of simpkv backend 'b' must be (a|an|true) /
          )
        end
      end
    end
  end

  describe '.doubts' do
    it 'suggests the name that was probably meant, where Ruby has its spell checker' do
      meant = ->(name) { defined?(DidYouMean::SpellChecker) ? ": did you mean '#{name}'?" : '' }
      expect(described_class.doubts(chosen(file.merge('rot_path' => '/x')))).to eq(
        ["Unknown option 'rot_path' of simpkv backend 'b'#{meant.call('root_path')}"]
      )
      expect(described_class.doubts(chosen(file).merge('sofftail' => true))).to eq(
        ["Unknown option 'sofftail' in simpkv configuration#{meant.call('softfail')}"]
      )
    end

    it 'suggests nothing for a name that is like no other' do
      expect(described_class.doubts(chosen(file.merge('zzzzzz' => 1)))).to eq(
        ["Unknown option 'zzzzzz' of simpkv backend 'b'"]
      )
    end

    it 'has nothing against options of our other types' do
      expect(described_class.doubts(chosen(file.merge('ldap_uri' => 'ldapi://x', 'base_dn' => 'dc=x',
                                                      'layout' => 'hex')))).to eq([])
    end

    it 'leaves backends of third-party types alone' do
      expect(described_class.doubts(chosen('type' => 'acme', 'id' => 'x',
                                           'rot_path' => '/x').merge('own' => 1))).to eq([])
    end
  end

  describe '.differences' do
    it 'fills in defaults first' do
      expect(described_class.differences(file,
                                         file.merge('root_path' => '/var/simp/simpkv/file/x/',
                                                    'lock_timeout_seconds' => 5)))
        .to eq([[], []])
    end

    it 'tells location and identity from the rest' do
      expect(described_class.differences(file, file.merge('root_path' => '/other', 'lock_timeout_seconds' => 6)))
        .to eq([['root_path'], ['lock_timeout_seconds']])
      acme = { 'type' => 'acme', 'id' => 'x' }
      expect(described_class.differences(acme,
                                         acme.merge('base_dn' => 'dc=x', 'own' => 1))).to eq([['base_dn'], ['own']])
    end
  end

  describe '.copy' do
    it 'copies frozen hashes and arrays, however deep, into ones that can be changed' do
      original = { 'a' => [{ 'b' => 1 }.freeze].freeze }.freeze
      copy = described_class.copy(original)
      copy['a'].first['b'] = 2
      expect([original, copy]).to eq([{ 'a' => [{ 'b' => 1 }] }, { 'a' => [{ 'b' => 2 }] }])
    end
  end

  describe '.default_backends' do
    it 'is a new hash each time, which the caller may change' do
      described_class.default_backends['default']['id'] = 'changed'
      expect(described_class.default_backends).to eq('default' => { 'type' => 'file', 'id' => 'auto_default' })
    end
  end

  it 'describes every option in words' do
    options = described_class::CALL + described_class::BACKEND + described_class::TYPES.values.flatten
    expect(options.map(&:text)).to all(match(/\w+ \w+/))
    expect(options.map(&:type).uniq - described_class::Coercion::NEEDED.keys).to eq([])
  end

  it 'needs no Puppet' do
    lib = File.expand_path('../../lib', __dir__)
    script = 'require "simpkv/config"; print Simpkv::Config.default_backends.keys; exit(defined?(Puppet) ? 1 : 0)'
    output = IO.popen([RbConfig.ruby, '-I', lib, '-e', script], &:read)
    expect([output, $CHILD_STATUS.success?]).to eq(['["default"]', true])
  end
end
