# frozen_string_literal: true

require_relative '../../lib/simpkv/version'

Gem::Specification.new do |spec|
  spec.name = 'simpkv-server'
  spec.version = Simpkv::VERSION
  spec.summary = 'An HTTP API and a console for the keys, nodes and inspection rules of simpkv'
  spec.description = 'The service `simpkv serve`. Compilers and agents never need it: it reads the store of a Puppet ' \
                     'estate for scripts, provisioning systems and monitoring.'
  spec.authors = ['The simpkv developers']
  spec.license = 'Apache-2.0'
  # Only MRI runs the service.
  spec.required_ruby_version = '>= 3.0' # rubocop:disable Gemspec/RequiredRubyVersion
  spec.metadata = { 'rubygems_mfa_required' => 'true' }
  spec.files = Dir['lib/**/*.{css,erb,js,rb,svg,yaml}', 'README.md', 'LICENSE', base: __dir__].sort
  spec.add_dependency 'erubi', '~> 1.10'
  spec.add_dependency 'parslet', '~> 2.0'
  spec.add_dependency 'puma', '>= 8.0.2', '< 9'
  spec.add_dependency 'rack', '>= 3.2.6', '< 4'
  spec.add_dependency 'roda', '~> 3.0'
  spec.add_dependency 'simpkv-access', Simpkv::VERSION
  spec.add_dependency 'simpkv-estate', Simpkv::VERSION
  spec.add_dependency 'sqlite3', '~> 2.0'
  spec.add_dependency 'tilt', '~> 2.0'
end
