# frozen_string_literal: true

require_relative '../../../puppet_x/simpkv/parts'

# @summary Lists the keys and folders of a folder, with the values and metadata of the keys
#
# It does not list the contents of the folders below it.
Puppet::Functions.create_function(:'simpkv::list', PuppetX::Simpkv.part(__FILE__, 'function')) do
  # @param keydir
  #   The folder, such as `app1/db`; `/` is the root folder of the environment, or of the global keys. A missing folder
  #   is an error, unless `missing` is `empty`.
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
  # @option options [Boolean] 'skip_undecodable' True: the list omits an entry that cannot be read, with a warning
  #   that names it. False: such an entry is an error. Default: false.
  # @option options [Boolean] 'softfail' True: a failing backend causes a warning only. Default: false.
  # @return [Optional[Struct[{keys => Hash, folders => Array[String]}]]] `keys` maps the name of each key, without the
  #   folder, to the result that `simpkv::get` has for it; both are sorted by name; with `softfail`, `undef` if the
  #   backend failed
  # @raise ArgumentError if the folder or the configuration is invalid
  # @raise LoadError if simpkv's own code or the gem `simpkv` cannot be loaded
  # @raise RuntimeError if the backend fails, unless `softfail` is set
  # @example Read the addresses that the hosts have stored
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
  alias_method :direct, :list
end
