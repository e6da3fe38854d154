# frozen_string_literal: true

# Prints the specification of a gem for a folder of gems, without the extension that `gem install` would build: the
# package libsimpkv has the library.
#
#   ruby specification.rb FILE.gem

require 'rubygems/package'

specification = Gem::Package.new(ARGV.fetch(0)).spec
specification.extensions.clear
puts specification.to_ruby
