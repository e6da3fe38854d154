# frozen_string_literal: true

require_relative 'conformance_helper'

# The first call of a catalog with some options takes other steps than the later ones: each example calls several times.
Conformance.describe 'simpkv::value' do
  sensitive = Puppet::Pops::Types::PSensitiveType::Sensitive

  # @return [Object] the result, or the message of the error under the name of simpkv::get
  def outcome(function, key, options)
    result = public_send(function, key, options)
    result &&= result['value'] if function == 'get'
    result.respond_to?(:unwrap) ? [:sensitive, result.unwrap] : result
  rescue StandardError => e
    [e.class, e.message.sub('simpkv::value', 'simpkv::get')]
  end

  before do
    put('plain', 'text', { 'm' => 1 })
    put('no', false)
    put('folder/members', { 'a' => [1, 2.5, nil, true, 'é'] })
    put('binary', "\x00\xff".b)
    put('secret', sensitive.new('hush'))
    [0, 1].each { |value| put('later', value, {}, { 'expires_after' => '1h', 'history' => 2 }) }
    store_raw('broken', 'no JSON')
    store_raw('past', '{"value":1,"metadata":{},"expires":"2001-01-01T00:00:00Z"}')
  end

  keys = ['plain', 'no', 'folder/members', 'binary', 'secret', 'later', 'broken', 'past', 'missing', 'plai', 'folder',
          '/', 'Plain', 'a b', 'a/../b']
  [{}, { 'softfail' => true }, { 'sensitive' => true }, { 'expired' => 'return' }, { 'version' => -1 },
   { 'default' => 'd' }, { 'default' => nil, 'sensitive' => true }, { 'default' => false }, { 'global' => true },
   { 'backend' => 'nosuch' }].each do |options|
    it "is the value of simpkv::get, or fails as it does, with the options #{options}",
       once: metadata[:thorough] && options.any? do
      keys.each do |key|
        expected = outcome('get', key, options)
        world.fresh_catalog
        found = Array.new(3) { outcome('value', key, options) }
        expect(found).to eq([expected] * 3), "#{key}: #{found}, not #{expected}"
      end
    end
  end

  it 'returns the value, not the Hash with the metadata' do
    3.times { expect([value('plain'), value('no'), value('missing', { 'default' => 5 })]).to eq(['text', false, 5]) }
    expect(value('secret').unwrap).to eq('hush')
  end

  it 'names itself in errors' do
    3.times do
      expect { value('missing') }.to raise_error(RuntimeError, /\Asimpkv Error for simpkv::value with key='missing': /)
      expect { value('a/../b') }.to raise_error(ArgumentError, %r{key 'a/})
      value('plain')
    end
  end
end
