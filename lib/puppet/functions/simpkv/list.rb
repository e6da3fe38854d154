# frozen_string_literal: true

base = File.expand_path('../../../puppet_x/simpkv/function.rb', File.dirname(__FILE__))

# @summary Lists the keys and folders of a folder, with the values and metadata of the keys
#
# What is in the folders below it is not listed.
Puppet::Functions.create_function(:'simpkv::list', TOPLEVEL_BINDING.eval(File.read(base), base)) do
  # @param keydir
  #   The folder, such as `app1/db`; `/` is the one of all keys of the environment, or of the global keys. A folder
  #   that is not there is a failure, unless `missing` is `empty`.
  # @param options
  #   Merged over `simpkv::options` of Hiera.
  # @option options [String] 'backend' The name of the entry of `backends` to use.
  # @option options [Hash] 'backends' Named backends, each a hash with `type`, `id` and the options of its type.
  # @option options [String] 'app_id' Picks the backend, where `backend` is not set: the one of that name, else the one
  #   whose name is the longest beginning of it, else `default`.
  # @option options [Boolean] 'global' Whether the folder is one of the global keys. Default: false.
  # @option options [Enum[fail,empty]] 'missing' What a folder that is not there is: `fail`, a failure, or `empty`, an
  #   empty folder. Default: fail.
  # @option options [Boolean] 'sensitive' Whether values come as Sensitive. Default: false.
  # @option options [Boolean] 'skip_undecodable' Whether an entry that cannot be read is left out with a warning that
  #   names it; else it makes the whole list fail. Default: false.
  # @option options [Boolean] 'softfail' Whether a failing backend is a warning only. Default: false.
  # @return [Optional[Struct[{keys => Hash, folders => Array[String]}]]] `keys` maps the name of each key, without the
  #   folder, to what `simpkv::get` returns for it; both are sorted by name; with `softfail`, `undef` when the backend
  #   failed
  # @raise ArgumentError when the folder or the configuration is wrong
  # @raise LoadError when simpkv's own code or the gem `simpkv` cannot be loaded
  # @raise RuntimeError when the backend fails, unless `softfail` is set
  # @example Everything that the hosts have registered
  #   $addresses = simpkv::list('hosts')['keys'].map |$host, $entry| { $entry['value'] }
  dispatch :list do
    scope_param
    param 'String[1]', :keydir
    optional_param 'Hash', :options
    return_type 'Optional[Hash]'
  end

  def list(scope, keydir, options = {})
    simpkv(scope, :list, keydir, options)
  end
end
