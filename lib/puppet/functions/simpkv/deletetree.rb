# frozen_string_literal: true

base = File.expand_path('../../../puppet_x/simpkv/function.rb', File.dirname(__FILE__))

# @summary Deletes a folder with all that is below it
Puppet::Functions.create_function(:'simpkv::deletetree', TOPLEVEL_BINDING.eval(File.read(base), base)) do
  # @param keydir
  #   The folder, such as `app1/db`; `/` is all keys of the environment, or all global keys. One that is not there
  #   counts as deleted; a key is a failure.
  # @param options
  #   Merged over `simpkv::options` of Hiera.
  # @option options [String] 'backend' The name of the entry of `backends` to use.
  # @option options [Hash] 'backends' Named backends, each a hash with `type`, `id` and the options of its type.
  # @option options [String] 'app_id' Picks the backend, where `backend` is not set: the one of that name, else the one
  #   whose name is the longest beginning of it, else `default`.
  # @option options [Boolean] 'global' Whether the folder is one of the global keys. Default: false.
  # @option options [Enum[write,skip]] 'noop_writes' What a write comes to on a node that runs in noop: `skip` is a
  #   notice and no write. Default: write.
  # @option options [Boolean] 'softfail' Whether a failing backend is a warning only. Default: false.
  # @return [Boolean] `true`; with `softfail`, `false` when the backend failed
  # @raise ArgumentError when the folder or the configuration is wrong
  # @raise LoadError when simpkv's own code or the gem `simpkv` cannot be loaded
  # @raise RuntimeError when the backend fails, unless `softfail` is set
  # @example Forget all that an application stored
  #   simpkv::deletetree('app1')
  dispatch :deletetree do
    scope_param
    param 'String[1]', :keydir
    optional_param 'Hash', :options
    return_type 'Boolean'
  end

  def deletetree(scope, keydir, options = {})
    simpkv(scope, :deletetree, keydir, options)
  end
end
