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

  require "simpkv/native/#{binding_wanted}"
end
