# frozen_string_literal: true

base = File.expand_path('../../../puppet_x/simpkv/function.rb', File.dirname(__FILE__))

# @summary Stores a value if the stored one is what it is expected to be
#
# Of several that expect the same value at the same moment, one stores its own, and the others learn that they have not.
# That is so for compilers that write to the same server. On 389 Directory Server it has exceptions: where many change
# one key at the same moment, now and then two of them are told that they did; a key that must never be made twice is
# made with `undef` for the expected value, or with `simpkv::get_or_create`, which have none. When the connection is
# lost before the answer has come, and the value is there, it is a failure: it may be another one's. A backend of a
# third-party type whose plugin has no `exchange` is asked what is there before it is stored.
Puppet::Functions.create_function(:'simpkv::compare_and_put', TOPLEVEL_BINDING.eval(File.read(base), base)) do
  # @param key
  #   A path such as `cluster1/leader`, as for `simpkv::put`.
  # @param expected
  #   The value that must be stored now, whatever its metadata; `undef`: there must be no such key. Hashes are equal
  #   whatever the order of their keys, a Sensitive is equal to what it wraps, and a number only to one of its type.
  # @param value
  #   What to store, as for `simpkv::put`.
  # @param metadata
  #   What to store with the value, in place of the metadata that are there.
  # @param options
  #   Merged over `simpkv::options` of Hiera.
  # @option options [String] 'backend' The name of the entry of `backends` to use.
  # @option options [Hash] 'backends' Named backends, each a hash with `type`, `id` and the options of its type.
  # @option options [String] 'app_id' Picks the backend, where `backend` is not set: the one of that name, else the one
  #   whose name is the longest beginning of it, else `default`.
  # @option options [Boolean] 'global' Whether the key belongs to all environments. Default: false.
  # @option options [Enum[write,skip]] 'noop_writes' What a write comes to on a node that runs in noop: `skip` is a
  #   notice and no write. Default: write.
  # @option options [Boolean] 'rich_data' Whether a Timestamp, Regexp, SemVer and the like come back as they were.
  #   Default: false.
  # @option options [Boolean] 'softfail' Whether a failing backend is a warning only. Default: false.
  # @return [Boolean] whether it was stored; with `softfail`, `false` when the backend failed
  # @raise ArgumentError when the key or the configuration is wrong
  # @raise LoadError when simpkv's own code or the gem `simpkv` cannot be loaded
  # @raise RuntimeError when the backend fails, unless `softfail` is set
  # @example Count up
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
