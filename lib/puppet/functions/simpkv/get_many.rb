# frozen_string_literal: true

require_relative '../../../puppet_x/simpkv/parts'

# @summary Reads many keys at once
#
# Over a network this takes a few round trips, not one for each key.
Puppet::Functions.create_function(:'simpkv::get_many', PuppetX::Simpkv.part(__FILE__, 'function')) do
  # @param keys
  #   Paths such as `app1/db/password`. Each must be a valid key.
  # @param options
  #   Options of this call, which take precedence over `simpkv::options` of Hiera.
  # @option options [String] 'backend' The name of the entry of `backends` to use.
  # @option options [Hash] 'backends' Named backends, each a hash with `type`, `id` and the options of its type.
  # @option options [String] 'app_id' Chooses the backend if `backend` is not set: the one of that name, else the one
  #   with the longest name that the `app_id` starts with, else `default`.
  # @option options [Boolean] 'global' True: the keys belong to all environments. Default: false.
  # @option options [Enum[absent,warn,return]] 'expired' What to do with an expired key: `absent` treats it as
  #   missing, `return` returns it, `warn` returns it with a warning. Default: absent.
  # @option options [Enum[fail,return]] 'errors' How to report keys that cannot be read: `fail` fails the call and names
  #   them, `return` returns their errors. Default: fail.
  # @option options [Boolean] 'sensitive' True: values are Sensitive. Default: false.
  # @option options [Boolean] 'softfail' True: a failing backend causes a warning only. Default: false.
  # @return [Optional[Struct[{keys => Hash, absent => Array[String], errors => Hash[String, String]}]]] `keys` has,
  #   by key, the result of `simpkv::get` for each; `absent` has the missing keys; `errors` has, by key, the reason why
  #   a key cannot be read, and is empty unless the option `errors` is `return`. With `softfail`, `undef` if the backend
  #   failed, or a key cannot be read
  # @raise ArgumentError if the key or the configuration is invalid
  # @raise LoadError if simpkv's own code or the gem `simpkv` cannot be loaded
  # @raise RuntimeError if the backend fails or a key cannot be read, unless `softfail` is set
  # @example Read the addresses of some hosts
  #   $found = simpkv::get_many($hosts.map |$host| { "hosts/${host}" })
  #   $addresses = $found['keys'].map |$key, $entry| { $entry['value'] }
  dispatch :get_many do
    scope_param
    param 'Array[String[1]]', :keys
    optional_param 'Hash', :options
    return_type 'Optional[Hash]'
  end

  def get_many(scope, keys, options = {})
    simpkv(scope, :get_many, keys, options)
  end
end
