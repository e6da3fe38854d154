# frozen_string_literal: true

require_relative 'conformance_helper'

# The first get of a catalog with some options takes other steps than the later ones.
Conformance.describe 'A get after another one with the same options' do
  sensitive = Puppet::Pops::Types::PSensitiveType::Sensitive

  # @return [Array] the result, and the warnings; or the error
  def outcome(key, options)
    before = world.warnings.length
    entry = get(key, options) || {}
    value = entry['value']
    [value.class, value.respond_to?(:unwrap) ? value.unwrap : value, entry['metadata'], world.warnings.drop(before)]
  rescue StandardError => e
    [e.class, e.message]
  end

  # @return [Array(Array, Array)] the outcome of the first get of a catalog, and of a later one
  def outcomes(key, options)
    world.fresh_catalog
    first = outcome(key, options)
    outcome('later', options)
    [first, outcome(key, options)]
  end

  before do
    put('plain', 'text')
    put('folder/members', { 'a' => [1, 2.5, nil, true, 'é'] }, { 'm' => { 'n' => 1 } })
    put('binary', "\x00\xff".b)
    put('secret', sensitive.new('hush'))
    [0, 1].each { |value| put('later', value, {}, { 'expires_after' => '1h', 'history' => 2 }) }
    store_raw('broken', 'no JSON')
    store_raw('without', '{"metadata":{}}')
    store_raw('past', '{"value":1,"metadata":{},"expires":"2001-01-01T00:00:00Z"}')
  end

  keys = ['plain', 'folder/members', '//folder///members/', 'binary', 'secret', 'later', 'broken', 'without', 'past',
          'missing', 'folder', '/', '//', 'Plain', 'a b', 'a/../b', '.', 'a!b', "a\0b", 'x' * 256, 'y/' * 2040]
  # Options make no difference to the binding: with directories, the other bindings run one example.
  directory = metadata[:thorough]
  [{}, { 'softfail' => true }, { 'sensitive' => true }, { 'expired' => 'return' }, { 'expired' => 'warn' },
   { 'version' => -1 }].each do |options|
    it "has the same result with the options #{options}", once: directory && options.any? do
      keys.each do |key|
        first, later = outcomes(key, options)
        expect(later).to eq(first), "'#{key.inspect[0, 20]}': #{later} after #{first}"
      end
    end
  end

  it 'is a get of the environment, or of the global keys, that its options name' do
    put('plain', 'of all', {}, { 'global' => true })
    3.times do
      expect([get('plain'), get('plain', { 'global' => true })]).to eq([{ 'value' => 'text' }, { 'value' => 'of all' }])
    end
  end

  it 'returns objects of its own' do
    first, second, third = Array.new(3) { get('folder/members') }
    expect([second, third]).to eq([first, first])
    second['value']['a'] << 'changed'
    expect(get('folder/members')).to eq(third)
  end

  it 'notices that the caller has changed its options' do
    options = { 'sensitive' => false }
    2.times { get('plain', options) }
    options['sensitive'] = true
    expect(get('plain', options)['value']).to be_a(sensitive)
    options.delete('sensitive')
    expect(get('plain', options)).to eq('value' => 'text')
  end

  it 'refuses arguments of other types as the first one does' do
    2.times do
      get('plain')
      [[''], [5], [nil], [], ['plain', nil], ['plain', 'x'], ['plain', {}, {}]].each do |arguments|
        expect { get(*arguments) }.to raise_error(ArgumentError, /expects/)
      end
    end
  end
end
