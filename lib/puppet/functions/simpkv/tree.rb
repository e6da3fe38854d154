# frozen_string_literal: true

base = File.expand_path('../../../puppet_x/simpkv/function.rb', File.dirname(__FILE__))

# @summary Lists a folder with all folders below it
#
# A directory is asked once, whatever the number of folders. In files, a folder that is a symbolic link is named, and
# not looked into.
Puppet::Functions.create_function(:'simpkv::tree', TOPLEVEL_BINDING.eval(File.read(base), base)) do
  # @param keydir
  #   A path such as `app1`; `/` is all of the environment, or with `global` all global keys. A
  #   folder that is not there is a failure, unless `missing` is `empty`.
  # @param options
  #   Merged over `simpkv::options` of Hiera.
  # @option options [String] 'backend' The name of the entry of `backends` to use.
  # @option options [Hash] 'backends' Named backends, each a hash with `type`, `id` and the options of its type.
  # @option options [String] 'app_id' Picks the backend, where `backend` is not set: the one of that name, else the one
  #   whose name is the longest beginning of it, else `default`.
  # @option options [Boolean] 'global' Whether the folder belongs to all environments. Default: false.
  # @option options [Enum[fail,empty]] 'missing' What a folder that is not there is: `fail`, a failure, or `empty`, an
  #   empty folder. Default: fail.
  # @option options [Boolean] 'sensitive' Whether values come as Sensitive. Default: false.
  # @option options [Boolean] 'skip_undecodable' Whether what cannot be read is left out with a warning, instead of
  #   failing. Default: false.
  # @option options [Boolean] 'softfail' Whether a failing backend is a warning only. Default: false.
  # @option options [Boolean] 'values' Whether values and metadata are wanted: with `false`, each key has an empty hash,
  #   and nothing is read or sent but names; those of keys that cannot be read are there, too. What is no key, or a
  #   folder that cannot be looked into, fails or is left out as with values. Default: true.
  # @return [Optional[Struct[{keys => Hash[String, Hash], folders => Array[String]}]]] the keys by their paths below the
  #   folder, each with `value` and, unless empty, `metadata`; the paths of the folders; both sorted. With `softfail`,
  #   `undef` when the backend failed
  # @raise ArgumentError when the folder or the configuration is wrong
  # @raise LoadError when simpkv's own code or the gem `simpkv` cannot be loaded
  # @raise RuntimeError when the backend fails, unless `softfail` is set
  # @example Names only
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
end
