# frozen_string_literal: true

require_relative '../support/file_store'

# lib/simpkv/config/options.rb defines the options; the core has tables of its own for the options of its stores.
RSpec.describe 'The options of a store' do
  root = File.expand_path('../..', __dir__)
  c = Dir[File.join(root, 'ext/core/src/**/*.c')].to_h { |file| [file.delete_prefix("#{root}/"), File.read(file)] }

  describe 'in a directory' do
    options = Simpkv::Config::TYPES.fetch('ldap')
    rows = c.values.flat_map { |code| code.scan(/^ +OPTION\((\w+), (\w+), "(.*?)", (\w+), (\w+)\)/) }
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

    # The row of an option that nothing reads.
    it 'are all used by the core' do
      unused = core.keys.reject { |name| c.values.any? { |code| code.match?(/(?:\.|->)#{name}\b/) } }
      expect(unused).to eq([])
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

  # FilePlace passes on all options of the type. The core refuses those that it does not know.
  describe 'in files' do
    code = c.fetch('ext/core/src/file/store.c')
    core = code.scan(/strcmp\(name, "(\w+)"\)/).flatten

    it 'are the same in Ruby and in the core' do
      options = Simpkv::Config::TYPES.fetch('file').map { |option| option.name.sub(/_seconds\z/, '_ms') }
      expect(options - core).to eq(['lock_timeout_ms'])
      expect(core - options).to eq(['follow_links'])
    end

    it 'are all used by the core' do
      expect(code.scan(/skv_option\(options, options_len, "(\w+)"\)/).flatten).to match_array(core)
    end
  end

  describe 'of every type' do
    # A backend takes an option, and nothing reads it.
    it 'are used by the library' do
      files = Dir[File.join(root, 'lib/**/*.rb')].grep_v(%r{/config/options[/.]})
      code = files.map { |file| File.read(file) }.join
      unused = Simpkv::Config::BACKEND.map(&:name).reject { |name| code.match?(/'#{name}'|%w\[[^\]]*\b#{name}\b/) }
      expect(unused).to eq([])
    end
  end

  it 'have a test each, beside those of their values' do
    files = Dir[File.join(root, 'spec/**/*.rb')].grep_v(%r{/(config|option_table|documentation)_spec\.rb\z})
    code = files.map { |file| File.read(file) }.join
    options = Simpkv::Config::BACKEND + Simpkv::Config::TYPES.values.flatten
    expect(options.map(&:name).reject { |name| code.match?(/\b#{name}\b/) }).to eq([])
  end
end
