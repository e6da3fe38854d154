# frozen_string_literal: true

require_relative '../../../puppet_x/simpkv/parts'

# @summary Lists a folder with all folders below it
#
# One request to a directory reads all folders. In files, the function names a folder that is a symbolic link, and does
# not follow it.
Puppet::Functions.create_function(:'simpkv::tree', PuppetX::Simpkv.part(__FILE__, 'function')) do
  # @param keydir
  #   A path such as `app1`; `/` is the root folder of the environment, or with `global` of the global keys. A missing
  #   folder is an error, unless `missing` is `empty`.
  # @param options
  #   Options of this call, which take precedence over `simpkv::options` of Hiera.
  # @option options [String] 'backend' The name of the entry of `backends` to use.
  # @option options [Hash] 'backends' Named backends, each a hash with `type`, `id` and the options of its type.
  # @option options [String] 'app_id' Chooses the backend if `backend` is not set: the one of that name, else the one
  #   with the longest name that the `app_id` starts with, else `default`.
  # @option options [Boolean] 'global' True: the folder belongs to all environments. Default: false.
  # @option options [Enum[absent,warn,return]] 'expired' What to do with an expired key: `absent` treats it as
  #   missing, `return` returns it, `warn` returns it with a warning. Default: absent.
  # @option options [Enum[fail,empty]] 'missing' With `fail`, a missing folder is an error. With `empty`, it is an empty
  #   folder. Default: fail.
  # @option options [Boolean] 'sensitive' True: values are Sensitive. Default: false.
  # @option options [Boolean] 'skip_undecodable' True: the tree omits entries that cannot be read, with a warning,
  #   instead of failing. Default: false.
  # @option options [Boolean] 'softfail' True: a failing backend causes a warning only. Default: false.
  # @option options [Boolean] 'values' False: the function reads names only, and each key has an empty hash, even a
  #   key that cannot be read or has expired. A name that no key can have, or a folder that cannot be read, is treated
  #   as with values. Default: true.
  # @return [Optional[Struct[{keys => Hash[String, Hash], folders => Array[String]}]]] the keys by their paths below the
  #   folder, each with `value` and, unless empty, `metadata`; the paths of the folders; both sorted. With `softfail`,
  #   `undef` if the backend failed
  # @raise ArgumentError if the folder or the configuration is invalid
  # @raise LoadError if simpkv's own code or the gem `simpkv` cannot be loaded
  # @raise RuntimeError if the backend fails, unless `softfail` is set
  # @example List names only
  #   $names = simpkv::tree('app1', { 'values' => false })['keys'].keys
  dispatch :tree do
    scope_param
    param 'String[1]', :keydir
    optional_param 'Hash', :options
    return_type 'Optional[Hash]'
  end

  def tree(scope, keydir, options = {})
    simpkv(scope, :tree, keydir, options)
  end
  alias_method :direct, :tree
end
