# frozen_string_literal: true

require_relative 'lib/simpkv/version'

Gem::Specification.new do |spec|
  spec.name = 'simpkv'
  spec.version = Simpkv::VERSION
  spec.summary = 'A key/value store for Puppet manifests, in files or in LDAP'
  spec.description = 'The native core, bindings and library of the Puppet module simpkv. It stores keys and values, ' \
                     'which manifests keep between runs and share between nodes, in files or in the LDAP directory ' \
                     'of a site.'
  spec.authors = ['The simpkv developers']
  # MIT: the words of passphrases, ext/core/src/secret/words.c.
  spec.licenses = %w[Apache-2.0 MIT]
  spec.required_ruby_version = '>= 2.6'
  spec.metadata = { 'rubygems_mfa_required' => 'true' }
  spec.require_paths = ['lib']
  spec.files = Dir['lib/simpkv.rb', 'lib/simpkv/**/*.{rb,txt,bash,zsh,fish}', 'ext/simpkv/*.{c,h,rb}',
                   'ext/core/{core.mk,configure,progress}', 'ext/core/{include,src}/**/*.{c,h}',
                   'schema/**/*.*', 'docs/*.{md,1,5,svg}', 'docs/schemas/**/*.{json,md}',
                   'README.md', 'CHANGELOG.md', 'LICENSE'].sort

  if ENV['SIMPKV_GEM_PLATFORM'] == 'java'
    spec.platform = 'java'
    spec.extensions = ['ext/core/configure']
  else
    spec.extensions = ['ext/simpkv/extconf.rb']
    # The command is for operators. The gem for puppetserver does not need it.
    spec.files += ['exe/simpkv']
    spec.bindir = 'exe'
    spec.executables = ['simpkv']
    spec.add_dependency 'ruby-progressbar', '~> 1.11'
  end
end
