# frozen_string_literal: true

require_relative '../../lib/simpkv/version'

Gem::Specification.new do |spec|
  spec.name = 'simpkv-operations'
  spec.version = Simpkv::VERSION
  spec.summary = 'Commands of simpkv for whole stores and their servers'
  spec.description = 'Commands for operators: they export, import and copy stores, take over the keys of other ' \
                     'tools, change encryption keys, resolve conflicts, delete what has expired, and measure servers.'
  spec.authors = ['The simpkv developers']
  spec.license = 'Apache-2.0'
  spec.required_ruby_version = '>= 2.6'
  spec.metadata = { 'rubygems_mfa_required' => 'true' }
  spec.files = Dir['lib/**/*.rb', 'README.md', 'LICENSE', base: __dir__].sort
  spec.add_dependency 'simpkv', Simpkv::VERSION
end
