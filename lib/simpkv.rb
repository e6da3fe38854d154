# frozen_string_literal: true

require 'simpkv/clock'
require 'simpkv/version'
require 'simpkv/errors'
require 'simpkv/native'

# A key/value store for Puppet manifests, in files or in an LDAP directory.
#
# {Store} keeps documents, {Codec} makes documents of values and metadata. Both stand on `Simpkv::Native`, which has
# two bindings to one C core with the same methods: `cext`, an extension for MRI, and `ffi`, for JRuby and, on demand,
# MRI. A process uses one.
module Simpkv
  # Returns statistics of this process's connections to directory servers. All stores, environments and catalogs share
  # these.
  #
  # @return [Hash] `{'pools' => [{'identity' => ..., 'servers' => [{'uri' => ..., 'open' => 1, 'idle' => 1, ...}]}]}`:
  #   numbers of connections, waits, failures, retries and operations, by server; times in microseconds. Each pool also
  #   has `'refused_password_file'`: the file of `admin_pw_file` if a server refuses its password, and the pool binds
  #   with the one that the file had before; otherwise nil. Each server also has `'vendor'`, its own name for itself,
  #   and `'tls'` of the newest connection: `{'protocol' => 'TLS1.3', 'cipher' => 'AES-256-GCM', 'certificate_ends' =>
  #   1790000000}`, in seconds since 1970. Unknown facts are nil, and so is `'tls'` without TLS. No value and no
  #   password appears
  def self.stats
    Native.stats
  end

  require 'simpkv/store/audited_store'
  require 'simpkv/store/batch'
  require 'simpkv/store/change'
  require 'simpkv/document/codec'
  require 'simpkv/document/placeholder'
  require 'simpkv/document/rich_data'
  require 'simpkv/config'
  require 'simpkv/store/deadline'
  require 'simpkv/store/encrypted_store'
  require 'simpkv/backend'
  require 'simpkv/store'
  require 'simpkv/store/compare_and_swap'
  require 'simpkv/store/first_write'
  require 'simpkv/secrets'
  require 'simpkv/config/store_options'
  require 'simpkv/config/validation'
  require 'simpkv/store/versioned_store'
  require 'simpkv/document/versions'
end
