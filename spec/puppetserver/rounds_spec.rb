# frozen_string_literal: true

require 'json'
require_relative '../spec_helper'
require_relative '../support/packages'
require_relative '../support/slapd'

RSpec.describe 'Ten thousand rounds on JRuby, each with an adapter and plugins of its own, as catalogs have,' do
  # What each thousandth left in use; see the program.
  attr_reader :samples

  # JRuby that loads Puppet and RSpec, with a heap that does not grow.
  def jruby
    gems = %w[rspec-core rspec-expectations rspec-mocks rspec-support diff-lcs].flat_map do |name|
      Gem.loaded_specs.fetch(name).full_require_paths
    end
    vendored = Dir['/usr/lib/puppetserver/vendored-jruby-gems/gems/concurrent-ruby-*/lib']
    ['jruby', '-J-Xms192m', '-J-Xmx192m', *['/usr/lib/ruby/vendor_ruby', *gems, *vendored].map { |path| "-I#{path}" }]
  end

  before(:context) do
    Slapd.run do |slapd|
      backends = { 'directory' => slapd.options('type' => 'ldap', 'id' => 'rounds'),
                   'files' => { 'type' => 'file', 'id' => 'rounds', 'root_path' => File.join(slapd.folder, 'files') } }
      program = File.expand_path('../support/catalog_rounds.rb', __dir__)
      output = Packages.run(*jruby, program, '10000', JSON.generate(backends), environment: { 'JRUBY_OPTS' => '' })
      @samples = JSON.parse(output.lines.last)
    end
  end

  # How much more is in use at the end than half way, when everything has been compiled that is worth it.
  def growth(what)
    samples.last(2).map { |sample| sample[what] }.min - samples[4, 2].map { |sample| sample[what] }.min
  end

  it 'leave no objects behind' do
    expect(growth('heap')).to be < 1_000_000
  end

  it 'leave no native memory behind' do
    expect(growth('native')).to be < 2_000_000
  end

  it 'leave no connections and no descriptors behind' do
    expect(samples.map { |sample| sample['connections'] }.uniq).to eq([1])
    expect(growth('files')).to eq(0)
  end
end
