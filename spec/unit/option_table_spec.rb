# frozen_string_literal: true

require_relative '../support/file_store'

# lib/simpkv/config/options.rb defines the options; the core has a table of its own for the options of a store.
RSpec.describe 'The options of a store in a directory' do
  options = Simpkv::Config::TYPES.fetch('ldap')
  rows = Dir[File.expand_path('../../ext/core/src/**/*.c', __dir__)].flat_map do |file|
    File.read(file).scan(/^ +OPTION\((\w+), (\w+), "(.*?)", (\w+), (\w+)\)/)
  end
  core = rows.to_h { |name, type, default, *range| [name, { type: type, default: default, range: range }] }

  # An option in seconds is one in milliseconds for the core; nil for an option that only Ruby uses.
  def in_core(core, option)
    core[option.name.sub(/_seconds\z/, '_ms')]
  end

  def default_in_core(option)
    default = option.name.end_with?('_seconds') ? option.default * 1000 : option.default
    default.nil? && option.type == :boolean ? 'false' : default.to_s
  end

  it 'are the same in Ruby and in the core' do
    names = options.map { |option| option.name.sub(/_seconds\z/, '_ms') }
    expect(names - core.keys).to eq(['operation_timeout_ms'])
    expect(core.keys - names).to match_array(%w[id anonymous])
  end

  options.each do |option|
    next unless core.key?(option.name.sub(/_seconds\z/, '_ms'))

    it "have the same default of #{option.name} in Ruby and in the core" do
      expect(in_core(core, option)[:default]).to eq(default_in_core(option))
    end
  end

  options.select { |option| option.type.is_a?(Range) }.each do |option|
    it "have the same range of #{option.name} in Ruby and in the core (pool_size was up to 1024 in the core)" do
      smallest, largest = option.type.minmax
      expect(in_core(core, option)[:range]).to eq([smallest.to_s, largest.to_s])
      [smallest - 1, largest + 1].each do |number|
        settings = { 'ldap_uri' => 'ldapi://x', 'id' => 'x', option.name => number }
        expect { Simpkv::Store.open('ldap', settings) }.to raise_error(Simpkv::InvalidError, /'#{option.name}'/)
      end
    end
  end
end
