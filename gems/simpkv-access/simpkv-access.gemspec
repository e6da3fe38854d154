# frozen_string_literal: true

require_relative '../../lib/simpkv/version'

Gem::Specification.new do |spec|
  spec.name = 'simpkv-access'
  spec.version = Simpkv::VERSION
  spec.summary = 'Users, roles and rights in the directory of simpkv'
  spec.description = 'What `simpkv access` and the resource types simpkv_user, simpkv_role and simpkv_role_binding ' \
                     'need: it brings a directory, and the rules of its server, to what is declared.'
  spec.authors = ['The simpkv developers']
  spec.license = 'Apache-2.0'
  spec.required_ruby_version = '>= 2.6'
  spec.metadata = { 'rubygems_mfa_required' => 'true' }
  spec.files = Dir['lib/**/*.rb', 'README.md', 'LICENSE', base: __dir__].sort
  spec.add_dependency 'simpkv-estate', Simpkv::VERSION
end
