# frozen_string_literal: true

require_relative '../../../puppet_x/simpkv/parts'

# @summary Reads the value that is stored under a key, without its metadata
#
# `simpkv::value('app1/port')` is `simpkv::get('app1/port')['value']`. Only the result differs from that of
# `simpkv::get`: it has no metadata, and a Deferred needs no `dig`. With `softfail`, `undef` means that the backend
# failed, unless it is the `default`. The function is for values that are not secret: it returns a stored Sensitive as
# Sensitive, but other values only with the option `sensitive`.
Puppet::Functions.create_function(:'simpkv::value', PuppetX::Simpkv.part(__FILE__, 'function')) do
  # @param key
  #   A path such as `app1/port`, as given to `simpkv::put`. A missing key is an error, unless the options have
  #   a `default`.
  # @param options
  #   Options of this call, which take precedence over `simpkv::options` of Hiera.
  # @option options [String] 'backend' The name of the entry of `backends` to use.
  # @option options [Hash] 'backends' Named backends, each a hash with `type`, `id` and the options of its type.
  # @option options [String] 'app_id' Chooses the backend if `backend` is not set: the one of that name, else the one
  #   with the longest name that the `app_id` starts with, else `default`.
  # @option options [Boolean] 'global' True: the key belongs to all environments. Default: false.
  # @option options [Enum[absent,warn,return]] 'expired' What to do with an expired key: `absent` treats it as
  #   missing, `return` returns it, `warn` returns it with a warning. Default: absent.
  # @option options [Any] 'default' The value to return for a missing key, which may be `undef`. It has an effect in the
  #   options of the call only, not in Hiera. A failing backend is still an error.
  # @option options [Boolean] 'sensitive' True: values are Sensitive, including a `default` other than `undef`.
  #   Default: false.
  # @option options [Boolean] 'softfail' True: a failing backend causes a warning only. Default: false.
  # @option options [Integer[-100,0]] 'version' The version to read: 0 is the current value, -1 the one before it, as
  #   far as the key has a `history`. A missing version is like a missing key. Default: 0.
  # @return [Any] the value; a Binary is returned as a string of bytes, for `Binary.new($value, '%r')`; with `softfail`,
  #   `undef` if the backend failed
  # @raise ArgumentError if the key or the configuration is invalid
  # @raise LoadError if simpkv's own code or the gem `simpkv` cannot be loaded
  # @raise RuntimeError if the key is missing and the options have no `default`, or the backend fails, unless `softfail`
  #   is set
  # @example Read a port
  #   $port = simpkv::value('app1/port')
  # @example Use another port for a missing key
  #   $port = simpkv::value('app1/port', { 'default' => 443 })
  dispatch :value do
    scope_param
    param 'String[1]', :key
    optional_param 'Hash', :options
    return_type 'Any'
  end

  def value(scope, key, options = {})
    simpkv(scope, :value, key, options)
  end

  # The short way of `simpkv::get`, see there.
  def direct(scope, key, options = {})
    adapter = adapter_of(scope)
    entry = adapter ? adapter.calls.direct_get(key, options, :value) : false
    false.equal?(entry) ? value(scope, key, options) : entry && entry['value']
  end
end
