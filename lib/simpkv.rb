# frozen_string_literal: true

require 'simpkv/library'
require 'simpkv/version'
require 'simpkv/errors'
require 'simpkv/native'

# A key/value store for Puppet manifests, in files or in an LDAP directory.
#
# {Store} keeps documents, {Codec} makes documents of values and metadata. Both stand on `Simpkv::Native`, which has
# two bindings to one C core with the same methods: `cext`, an extension for MRI, and `ffi`, for JRuby and, on demand,
# MRI. A process uses one.
module Simpkv
  LIBRARY.each { |file| require "simpkv/#{file}" }
end
