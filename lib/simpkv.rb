# frozen_string_literal: true

require 'simpkv/version'
require 'simpkv/errors'
require 'simpkv/native'
# The last one: who finds the constant Store, as another thread may, can use it.
require 'simpkv/library'

# A key/value store for Puppet manifests, in files or in an LDAP directory.
#
# {Store} keeps documents, {Codec} makes documents of values and metadata. Both stand on `Simpkv::Native`, which has
# two bindings to one C core with the same methods: `cext`, an extension for MRI, and `ffi`, for JRuby and, on demand,
# MRI. A process uses one.
module Simpkv
  # MRI loads a file when its constant is used. JRuby, whose programs have threads and start slowly, loads all at once.
  LIBRARY.each_key { |constant| const_get(constant) } if RUBY_ENGINE == 'jruby'
end
