# frozen_string_literal: true

require_relative '../support/file_store'

# The core has the table of the options of its stores, and lib/simpkv/config/options/stores.rb reads it.
RSpec.describe 'The options of a store' do
  root = File.expand_path('../..', __dir__)
  core = Simpkv::Native.options
  types = Simpkv::Config::TYPES

  # The name of an option of the core in Hiera.
  def in_hiera(name)
    name.sub(/_ms\z/, '_seconds')
  end

  it 'are those of the core, without the ones that simpkv sets, and with the time of a call' do
    offered = types.transform_values { |options| options.map(&:name) }
    expect(offered.keys).to eq(core.keys)
    names = core.transform_values { |rows| rows.map { |row| in_hiera(row['name']) } }
    added = offered.to_h { |type, list| [type, list - names[type]] }
    expect(added).to eq('file' => ['lock_timeout_seconds'], 'ldap' => ['operation_timeout_seconds'])
    left_out = names.to_h { |type, list| [type, list - offered[type]] }
    expect(left_out).to eq('file' => ['follow_links'], 'ldap' => %w[id anonymous])
  end

  it 'have the type, the default and the meaning that the core gives them' do
    options = types.fetch('ldap').to_h { |option| [option.name, [option.type, option.default, option.text]] }
    meaning = core.fetch('ldap').find { |row| row['name'] == 'page_size' }.fetch('meaning')
    expect(options.fetch('page_size')).to eq([1..100_000, 500, meaning])
    expect(options.fetch('connect_timeout_seconds').first(2)).to eq([:duration, 5])
    expect(options.fetch('layout').first(2)).to eq([%w[plain hex], 'plain'])
    expect(options.fetch('retries').last).to end_with('for `connect_timeout_seconds`')
  end

  it 'have a valid default, or a remark about an absent option' do
    invalid = types.values.flatten.reject do |option|
      option.default.nil? || Simpkv::Coercion.convert(option.type, option.default) == option.default
    end
    expect(invalid.map(&:name)).to eq([])
  end

  it 'have remarks in Ruby only if the core has them' do
    remarks = Simpkv::Config.const_get(:REMARKS)
    expect(remarks.keys - types.values.flatten.map(&:name)).to eq([])
  end

  types.fetch('ldap').select { |option| option.type.is_a?(Range) }.each do |option|
    it "refuse a number outside the range of #{option.name} (the core took a pool_size of 1024)" do
      smallest, largest = option.type.minmax
      [smallest - 1, largest + 1].each do |number|
        settings = { 'ldap_uri' => 'ldapi://x', 'id' => 'x', option.name => number }
        expect { Simpkv::Store.open('ldap', settings) }.to raise_error(Simpkv::InvalidError, /'#{option.name}'/)
      end
    end
  end

  describe 'of every type' do
    # A backend takes an option, and nothing reads it.
    it 'are used by the library' do
      files = Dir[File.join(root, '{lib,gems/*/lib}/**/*.rb')].grep_v(%r{/config/options[/.]})
      code = files.map { |file| File.read(file) }.join
      unused = Simpkv::Config::BACKEND.map(&:name).reject { |name| code.match?(/'#{name}'|%w\[[^\]]*\b#{name}\b/) }
      expect(unused).to eq([])
    end
  end

  it 'have a test each, beside those of their values' do
    files = Dir[File.join(root, '{,gems/*/}spec/**/*.rb')].grep_v(%r{/(config|option_table|documentation)_spec\.rb\z})
    code = files.map { |file| File.read(file) }.join
    options = Simpkv::Config::BACKEND + types.values.flatten
    expect(options.map(&:name).reject { |name| code.match?(/\b#{name}\b/) }).to eq([])
  end
end
