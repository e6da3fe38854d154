# frozen_string_literal: true

require_relative '../../../puppet_x/simpkv/parts'

# @summary Reads a key, and creates it if it is missing or has expired
#
# If several catalogs do this at the same moment, even on several compilers, simpkv stores the value of the first one,
# and all of them return it. With a replicated directory, set `write_uri` to the same server on all compilers. If a
# server of `ldap_uri` has the key, the function returns that entry, as `simpkv::get` does; otherwise it asks the server
# of `write_uri`. With a third-party plugin that has no `put_new`, the function reads the key and then stores it: if two
# catalogs do so at the same moment, the last value stays.
#
# A value that was stored with `expires_after` is replaced when it has expired. If several catalogs find it expired, one
# stores its value, and all return that value. The old value stays in the history: `simpkv::get` returns it with the
# option `version` -1. The function does not renew a value that has not expired. On 389 Directory Server there is an
# exception, as for `simpkv::compare_and_put`: occasionally two catalogs replace an expired value at the same moment.
# Then one of them returns a value that is not stored, until its next run.
Puppet::Functions.create_function(:'simpkv::get_or_create', PuppetX::Simpkv.part(__FILE__, 'function')) do
  # Makes the value only if the key is missing or has expired.
  #
  # @param key
  #   A path such as `app1/db/password`, as for `simpkv::put`.
  # @param metadata
  #   The metadata to store with the value.
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
  #   `skip` logs a notice instead. For a missing key the function then returns the value that it would have stored,
  #   and does not remember it: a second call for the key in the same catalog makes another value, and `simpkv::get`
  #   fails for it. Default: write.
  # @option options [Boolean] 'rich_data' True: values such as Timestamp, Regexp and SemVer come back with their type.
  #   Default: false.
  # @option options [Boolean] 'sensitive' True: values are Sensitive. Default: false.
  # @option options [Boolean] 'softfail' True: a failing backend causes a warning only. Default: false.
  # @param block
  #   Receives the key and returns the value, as for `simpkv::put`. It runs only if the key is missing or has expired.
  #   If another catalog stores its value first, this one is dropped.
  # @return [Optional[Struct[{value => Any, Optional[metadata] => Hash}]]] the stored value and metadata, as
  #   `simpkv::get` returns them; with `softfail`, `undef` if the backend failed
  # @raise ArgumentError if the key or the configuration is invalid
  # @raise LoadError if simpkv's own code or the gem `simpkv` cannot be loaded
  # @raise RuntimeError if the backend fails, unless `softfail` is set
  # @example Make a password once
  #   $password = simpkv::get_or_create('app1/db/password') |$key| {
  #     Sensitive(generate('/usr/bin/openssl', 'rand', '-hex', '24').strip)
  #   }['value']
  # @example Make a password that lives for 90 days
  #   $password = simpkv::get_or_create('app1/db/password', {}, { 'expires_after' => '90d' }) |$key| {
  #     Sensitive(generate('/usr/bin/openssl', 'rand', '-hex', '24').strip)
  #   }['value']
  dispatch :with_block do
    scope_param
    param 'String[1]', :key
    optional_param 'Hash', :metadata
    optional_param 'Hash', :options
    required_block_param 'Callable[1, 1]', :block
    return_type 'Optional[Hash]'
  end

  # Takes a value in place of a block. The metadata follow the value: in a call with metadata that lacks its block, they
  # become the value.
  #
  # @param key
  #   A path such as `app1/db/password`, as for `simpkv::put`.
  # @param value
  #   The value to store, as for `simpkv::put`.
  # @param metadata
  #   The metadata to store with the value.
  # @param options
  #   Options of this call, as above.
  # @return [Optional[Struct[{value => Any, Optional[metadata] => Hash}]]] the stored value and
  #   metadata
  # @raise ArgumentError if the key or the configuration is invalid
  # @raise LoadError if simpkv's own code or the gem `simpkv` cannot be loaded
  # @raise RuntimeError if the backend fails, unless `softfail` is set
  # @example Make the first node the leader
  #   $leader = simpkv::get_or_create('cluster1/leader', $facts['networking']['fqdn'])['value']
  dispatch :with_value do
    scope_param
    param 'String[1]', :key
    param 'NotUndef', :value
    optional_param 'Hash', :metadata
    optional_param 'Hash', :options
    return_type 'Optional[Hash]'
  end

  def with_block(scope, key, metadata = {}, options = {})
    entry = simpkv(scope, :current, key, options)
    return entry unless entry == false

    value = yield(key.dup)
    if value.nil?
      raise ArgumentError, "simpkv::get_or_create with key='#{key}': the block returns undef, which is not a value"
    end

    simpkv(scope, :create, key, options, value, metadata)
  end

  def with_value(scope, key, value, metadata = {}, options = {})
    with_block(scope, key, metadata, options) { value }
  end
end
