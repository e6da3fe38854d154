# frozen_string_literal: true

require 'spec_helper'
require 'simpkv/estate'

RSpec.describe Simpkv::Estate::Query do
  indexed = %w[os.name os.release cores virtual dns uptime load]

  record = { 'environment' => 'production',
             'facts' => { 'os.name' => 'Debian', 'os.release' => '12.9', 'cores' => 8, 'virtual' => true,
                          'dns' => ['192.0.2.1'], 'uptime' => '7', 'load' => 1.5 } }

  define_method(:match?) { |filter| described_class.new(filter, indexed).match?('web1', record) }

  matching = [
    {}, { 'os.name' => 'Debian' }, { 'os.name' => 'debian' }, { 'os.name' => %w[RedHat Debian] },
    { 'os.name' => /^Deb/ },
    { 'certname' => 'web1' }, { 'certname' => /^web\d/, 'environment' => 'production' }, { 'cores' => 8 },
    { 'cores' => '8' }, { 'cores' => 8.0 }, { 'uptime' => 7 }, { 'uptime' => 7.0 }, { 'virtual' => true },
    { 'virtual' => 'true' }, { 'dns' => [['192.0.2.1']] }, { 'load' => 1.5 }, { 'os.release' => '12.9' },
    ['os.name', '==', 'Debian'], ['os.name', '!=', 'RedHat'], ['os.name', '=~', '^deb|^Deb'], ['os.name', '=~', /bian/],
    ['os.name', 'in', %w[a Debian]], ['cores', '>', 7], ['cores', '>=', 8], ['cores', '<', '9'], ['cores', '<=', 8.5],
    ['cores', '=~', '^8$'], ['os.release', '>', '12.1'], ['os.release', '<', '12.10'], ['os.release', '>', '9'],
    ['os.release', '>=', '12'], ['os.release', '>=', 12], ['os.release', '<=', '12.9'], ['os.release', '<', '12.9.1'],
    ['uptime', '<', 10], ['uptime', '<', '10'], ['os.name', '<', 'redhat'],
    [['cores', '==', 1], 'or', ['cores', '==', 8]], [['cores', '==', 8], 'and', ['virtual', '!=', false]],
    [{ 'cores' => 1 }, 'or', { 'cores' => 8, 'virtual' => true }],
    [[['cores', '==', 1], 'and', ['cores', '==', 2]], 'or', ['os.name', '==', 'Debian']]
  ]
  matching.each do |filter|
    it "matches with #{filter.inspect}" do
      expect(match?(filter)).to be(true)
    end
  end

  [
    { 'os.name' => 'RedHat' }, { 'os.name' => [] }, { 'os.name' => nil }, { 'os.name' => 'Debian', 'cores' => 9 },
    { 'os.name' => /^deb/ }, { 'dns' => '192.0.2.1' }, { 'os.release' => 12 }, { 'os.release' => '12' },
    { 'virtual' => 1 }, ['os.name', '!=', 'debian'], ['os.name', '>', 5], ['cores', '<', 'x'], ['cores', '<', nil],
    ['dns', '<', 5], ['virtual', '>', 0], ['os.name', 'in', []], ['os.release', '>', '12.10'],
    [['cores', '==', 1], 'or', ['cores', '==', 9]], [['cores', '==', 8], 'and', ['virtual', '!=', true]]
  ].each do |filter|
    it "does not match with #{filter.inspect}" do
      expect(match?(filter)).to be(false)
    end
  end

  it 'treats a fact that a node does not have as undef' do
    none = ->(filter) { described_class.new(filter, indexed).match?('web2', {}) }
    expect([{ 'cores' => nil }, ['cores', '!=', 8], ['cores', 'in', [nil]]].map(&none)).to all(be(true))
    expect([{ 'cores' => '' }, { 'cores' => /.?/ }, ['cores', '<', 8], ['cores', '==', 8]].map(&none)).to all(be(false))
    expect(none.call('environment' => 'production')).to be(false)
  end

  { { 'kernel' => 's3cret' } => /'kernel' is not in the inventory: add it to the option 'indexed_facts' of 'estate' \(/,
    [['cores', '==', 1], 'and', ['kernel', '==', 's3cret']] => /'kernel' is not in the inventory/,
    { 5 => 's3cret' } => /a name of a fact must be a String/,
    %w[cores === s3cret] => /the operator after 'cores' must be ==, !=/,
    %w[cores in s3cret] => /the value of 'cores' for 'in' must be an Array/,
    %w[cores =~
       (s3cret] => /the value of 'cores' for '=~' is no regular expression: end pattern with unmatched parenthesis/i,
    [%w[cores == 1], 'xor', %w[cores == 2]] => /two filters are joined by 'and' or 'or'/,
    { 'cores' => :s3cret } => /the value of 'cores' must be text, a number, .* not Symbol/,
    ['cores', '=~', 5] => /must be a regular expression/,
    ['s3cret'] => /a filter must be a Hash of names and values, .* and not an Array of 1/,
    [] => /and not an Array of 0/,
    ['s3cret', 'or', { 's3cret' => 1 }] => /and not String/,
    [{ 'cores' => 1 }, 'or', 5] => /and not Integer/ }.each do |filter, message|
    it "refuses #{filter.inspect.sub('s3cret', '...')}, and shows no value" do
      expect { match?(filter) }.to raise_error(Simpkv::InvalidError, message) { |error|
        expect(error.message).not_to include('s3cret')
      }
    end
  end
end
