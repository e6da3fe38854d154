# frozen_string_literal: true

require_relative '../../lib/simpkv/version'

Gem::Specification.new do |spec|
  spec.name = 'simpkv-rspec'
  spec.version = Simpkv::VERSION
  spec.summary = 'Unit tests of Puppet modules that call functions of simpkv'
  spec.description = 'For the authors of modules: it gives each example of RSpec an empty store, and matchers for ' \
                     'what a catalog has stored. No site needs it.'
  spec.authors = ['The simpkv developers']
  spec.license = 'Apache-2.0'
  spec.required_ruby_version = '>= 2.6'
  spec.metadata = { 'rubygems_mfa_required' => 'true' }
  spec.files = Dir['lib/**/*.rb', 'README.md', 'LICENSE', base: __dir__].sort
  spec.add_dependency 'rspec', '~> 3.0'
  spec.add_dependency 'simpkv', Simpkv::VERSION
end
