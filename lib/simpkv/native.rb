# frozen_string_literal: true

require 'simpkv/errors'
require 'simpkv/version'

# Loads the binding to the core.
module Simpkv
  # @return [String] the binding to load: the environment variable SIMPKV_NATIVE (`cext` or `ffi`), else the usual one
  #   of this Ruby
  # @raise [LoadError] SIMPKV_NATIVE has another value, or is `cext` on JRuby
  def self.binding_wanted
    jruby = RUBY_ENGINE == 'jruby'
    wanted = ENV['SIMPKV_NATIVE'].to_s
    wanted = jruby ? 'ffi' : 'cext' if wanted.empty?
    return wanted if wanted == 'ffi' || (wanted == 'cext' && !jruby)

    raise LoadError, "SIMPKV_NATIVE=#{wanted}: expected #{jruby ? 'ffi' : 'cext or ffi'}, or nothing"
  end

  # Returns statistics of this process's connections to directory servers. All stores, environments and catalogs share
  # these.
  #
  # @return [Hash] `{'pools' => [{'identity' => ..., 'servers' => [{'uri' => ..., 'open' => 1, 'idle' => 1, ...}]}]}`:
  #   numbers of connections, waits, failures, retries and operations, by server; times in microseconds. Each pool also
  #   has `'refused_password_file'`: the file of `admin_pw_file` if a server refuses its password, and the pool binds
  #   with its former password; otherwise nil. Each server also has `'vendor'`, its own name for itself, and `'tls'` of
  #   the newest connection: `{'protocol' => 'TLS1.3', 'cipher' => 'AES-256-GCM', 'certificate_ends' => 1790000000}`, in
  #   seconds since 1970. Unknown facts are nil, and so is `'tls'` without TLS. No value and no password appears
  def self.stats
    Native.stats
  end

  require "simpkv/native/#{binding_wanted}"
end
