# frozen_string_literal: true

require_relative '../../../puppet_x/simpkv/parts'

# @summary Stores a value only if the stored value is the expected one
#
# If several catalogs expect the same value at the same moment, one of them stores its value, and the others return
# false. All compilers must write to the same server. On 389 Directory Server, if many clients change one key at the
# same moment, occasionally two of them succeed. To create a key exactly once, use `undef` as the expected value, or
# `simpkv::get_or_create`: for a key that does not expire, this is safe on all servers. If the connection is lost before
# the response arrives, the call fails, even if the value is stored: another client may have stored it. With a
# third-party plugin that has no `exchange`, the function reads the key and then stores it.
#
# An expired key counts as missing. Its value goes into the history of the new one.
Puppet::Functions.create_function(:'simpkv::compare_and_put', PuppetX::Simpkv.part(__FILE__, 'function')) do
  # @param key
  #   A path such as `cluster1/leader`, as for `simpkv::put`.
  # @param expected
  #   The expected value, whatever its metadata; `undef`: the key must be missing. The order of a hash's keys does not
  #   matter, a Sensitive is equal to the value that it wraps, and a number is equal only to one of its type.
  # @param value
  #   The value to store, as for `simpkv::put`.
  # @param metadata
  #   The metadata to store with the value, in place of the stored ones.
  # @param options
  #   Options of this call, which take precedence over `simpkv::options` of Hiera.
  # @option options [String] 'backend' The name of the entry of `backends` to use.
  # @option options [Hash] 'backends' Named backends, each a hash with `type`, `id` and the options of its type.
  # @option options [String] 'app_id' Chooses the backend if `backend` is not set: the one of that name, else the one
  #   with the longest name that the `app_id` starts with, else `default`.
  # @option options [Boolean] 'global' True: the key belongs to all environments. Default: false.
  # @option options [Variant[Integer,String]] 'expires_after' The time after which the stored value expires: seconds, or
  #   a number with `s`, `m`, `h`, `d` or `y`, such as `90d`. Default: it does not expire.
  # @option options [Integer[0,100]] 'history' The number of earlier values that the key keeps, 1 at least after its
  #   value has expired. Default: the option `history` of the backend.
  # @option options [Enum[write,skip]] 'noop_writes' For a node that runs in noop mode: `write` stores the value,
  #   `skip` logs a notice instead. Default: write.
  # @option options [Boolean] 'rich_data' True: values such as Timestamp, Regexp and SemVer come back with their type.
  #   Default: false.
  # @option options [Boolean] 'softfail' True: a failing backend causes a warning only. Default: false.
  # @return [Boolean] true if it stored the value; with `softfail`, `false` if the backend failed
  # @raise ArgumentError if the key or the configuration is invalid
  # @raise LoadError if simpkv's own code or the gem `simpkv` cannot be loaded
  # @raise RuntimeError if the backend fails, unless `softfail` is set
  # @example Increment a number
  #   $last = simpkv::get_or_create('app1/serial', 0)['value']
  #   $mine = simpkv::compare_and_put('app1/serial', $last, $last + 1)
  dispatch :compare_and_put do
    scope_param
    param 'String[1]', :key
    param 'Any', :expected
    param 'NotUndef', :value
    optional_param 'Hash', :metadata
    optional_param 'Hash', :options
    return_type 'Boolean'
  end

  def compare_and_put(scope, key, expected, value, metadata = {}, options = {})
    simpkv(scope, :compare_and_put, key, options, expected, value, metadata)
  end
end
