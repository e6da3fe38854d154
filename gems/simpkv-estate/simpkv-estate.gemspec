# frozen_string_literal: true

require_relative '../../lib/simpkv/version'

Gem::Specification.new do |spec|
  spec.name = 'simpkv-estate'
  spec.version = Simpkv::VERSION
  spec.summary = 'Nodes, facts, exported resources, reports and inspection rules in the store of simpkv'
  spec.description = 'The memory of a Puppet estate, for compilers and the command simpkv: termini and a report ' \
                     'processor for Puppet, inspection rules, and the commands for nodes and rules.'
  spec.authors = ['The simpkv developers']
  spec.license = 'Apache-2.0'
  spec.required_ruby_version = '>= 2.6'
  spec.metadata = { 'rubygems_mfa_required' => 'true' }
  spec.files = Dir['lib/**/*.rb', 'README.md', 'LICENSE', base: __dir__].sort
  spec.add_dependency 'simpkv', Simpkv::VERSION
end
