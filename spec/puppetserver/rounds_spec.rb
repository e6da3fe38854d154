# frozen_string_literal: true

require 'json'
require_relative '../spec_helper'
require_relative '../support/packages'
require_relative '../support/slapd'

RSpec.describe 'Two thousand rounds on JRuby, each with a new adapter and new plugins, as catalogs have,', :long do
  # The resources in use after each tenth of the rounds; the program names them.
  attr_reader :samples

  # JRuby with Puppet and RSpec, and a heap of constant size.
  def jruby
    gems = %w[rspec-core rspec-expectations rspec-mocks rspec-support diff-lcs].flat_map do |name|
      Gem.loaded_specs.fetch(name).full_require_paths
    end
    vendored = Dir['/usr/lib/puppetserver/vendored-jruby-gems/gems/concurrent-ruby-*/lib']
    folders = ['/usr/lib/ruby/vendor_ruby', *gems, *vendored]
    ['jruby', '-J-Xms192m', '-J-Xmx192m', *folders.map { |path| "-I#{path}" }]
  end

  before(:context) do
    Slapd.run do |slapd|
      backends = { 'directory' => slapd.options('type' => 'ldap', 'id' => 'rounds'),
                   'files' => { 'type' => 'file', 'id' => 'rounds', 'root_path' => File.join(slapd.folder, 'files') } }
      program = File.expand_path('../support/catalog_rounds.rb', __dir__)
      output = Packages.run(*jruby, program, '2000', JSON.generate(backends))
      @samples = JSON.parse(output.lines.last)
    end
  end

  # @return [Integer] the growth in the second half of the rounds, after Java has compiled the code
  def growth(what)
    samples.last(2).map { |sample| sample[what] }.min - samples[4, 2].map { |sample| sample[what] }.min
  end

  it 'leak no objects' do
    expect(growth('heap')).to be < 200_000
  end

  it 'leak no native memory' do
    expect(growth('native')).to be < 600_000
  end

  it 'leak no connections and no descriptors' do
    expect(samples.map { |sample| sample['connections'] }.uniq).to eq([1])
    expect(growth('files')).to eq(0)
  end
end
