# frozen_string_literal: true

require_relative '../../../puppet_x/simpkv/parts'

# @summary Deletes a key
#
# Its folder stays, even if it is empty.
Puppet::Functions.create_function(:'simpkv::delete', PuppetX::Simpkv.part(__FILE__, 'function')) do
  # @param key
  #   The key, such as `app1/db/password`. A missing key counts as deleted; a folder is an error.
  # @param options
  #   Options of this call, which take precedence over `simpkv::options` of Hiera.
  # @option options [String] 'backend' The name of the entry of `backends` to use.
  # @option options [Hash] 'backends' Named backends, each a hash with `type`, `id` and the options of its type.
  # @option options [String] 'app_id' Chooses the backend if `backend` is not set: the one of that name, else the one
  #   with the longest name that the `app_id` starts with, else `default`.
  # @option options [Boolean] 'global' True: the key belongs to all environments. Default: false.
  # @option options [Enum[write,skip]] 'noop_writes' For a node that runs in noop mode: `write` deletes it,
  #   `skip` logs a notice instead. Default: write.
  # @option options [Boolean] 'softfail' True: a failing backend causes a warning only. Default: false.
  # @return [Boolean] `true`; with `softfail`, `false` if the backend failed
  # @raise ArgumentError if the key or the configuration is invalid
  # @raise LoadError if simpkv's own code or the gem `simpkv` cannot be loaded
  # @raise RuntimeError if the backend fails, unless `softfail` is set
  # @example Delete a password
  #   simpkv::delete('app1/db/password')
  dispatch :delete do
    scope_param
    param 'String[1]', :key
    optional_param 'Hash', :options
    return_type 'Boolean'
  end

  def delete(scope, key, options = {})
    simpkv(scope, :delete, key, options)
  end
  alias_method :direct, :delete
end
