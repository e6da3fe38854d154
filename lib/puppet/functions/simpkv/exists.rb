# frozen_string_literal: true

require_relative '../../../puppet_x/simpkv/parts'

# @summary Returns true if a key or a folder exists
#
# Another catalog may store or delete the key right after this call. To store a first value use
# `simpkv::get_or_create`, to replace a known one `simpkv::compare_and_put`.
Puppet::Functions.create_function(:'simpkv::exists', PuppetX::Simpkv.part(__FILE__, 'function')) do
  # @param key
  #   The key or folder, such as `app1/db/password` or `app1/db`.
  # @param options
  #   Options of this call, which take precedence over `simpkv::options` of Hiera.
  # @option options [String] 'backend' The name of the entry of `backends` to use.
  # @option options [Hash] 'backends' Named backends, each a hash with `type`, `id` and the options of its type.
  # @option options [String] 'app_id' Chooses the backend if `backend` is not set: the one of that name, else the one
  #   with the longest name that the `app_id` starts with, else `default`.
  # @option options [Boolean] 'global' True: the key belongs to all environments. Default: false.
  # @option options [Enum[absent,warn,return]] 'expired' What to do with an expired key: `absent` treats it as
  #   missing, `return` returns it, `warn` returns it with a warning. Default: absent.
  # @option options [Boolean] 'softfail' True: a failing backend causes a warning only. Default: false.
  # @return [Optional[Boolean]] true if it exists; with `softfail`, `undef` if the backend failed
  # @raise ArgumentError if the key or the configuration is invalid
  # @raise LoadError if simpkv's own code or the gem `simpkv` cannot be loaded
  # @raise RuntimeError if the backend fails, unless `softfail` is set
  # @example Configure the replica once the primary has stored its address
  #   if simpkv::exists('cluster1/primary') {
  #     class { 'replica': primary => simpkv::get('cluster1/primary')['value'] }
  #   }
  dispatch :exists do
    scope_param
    param 'String[1]', :key
    optional_param 'Hash', :options
    return_type 'Optional[Boolean]'
  end

  def exists(scope, key, options = {})
    simpkv(scope, :exists, key, options)
  end
  alias_method :direct, :exists
end
