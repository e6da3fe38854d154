# frozen_string_literal: true

base = File.expand_path('../../../puppet_x/simpkv/function.rb', File.dirname(__FILE__))

# @summary Deletes a key
#
# The folder that it was in stays, even when it is empty now.
Puppet::Functions.create_function(:'simpkv::delete', TOPLEVEL_BINDING.eval(File.read(base), base)) do
  # @param key
  #   The key, such as `app1/db/password`. One that is not there counts as deleted; a folder is a failure.
  # @param options
  #   Merged over `simpkv::options` of Hiera.
  # @option options [String] 'backend' The name of the entry of `backends` to use.
  # @option options [Hash] 'backends' Named backends, each a hash with `type`, `id` and the options of its type.
  # @option options [String] 'app_id' Picks the backend, where `backend` is not set: the one of that name, else the one
  #   whose name is the longest beginning of it, else `default`.
  # @option options [Boolean] 'global' Whether the key belongs to all environments. Default: false.
  # @option options [Enum[write,skip]] 'noop_writes' What a write comes to on a node that runs in noop: `skip` is a
  #   notice and no write. Default: write.
  # @option options [Boolean] 'softfail' Whether a failing backend is a warning only. Default: false.
  # @return [Boolean] `true`; with `softfail`, `false` when the backend failed
  # @raise ArgumentError when the key or the configuration is wrong
  # @raise LoadError when simpkv's own code or the gem `simpkv` cannot be loaded
  # @raise RuntimeError when the backend fails, unless `softfail` is set
  # @example Forget a password
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
end
