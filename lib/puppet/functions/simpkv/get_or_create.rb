# frozen_string_literal: true

base = File.expand_path('../../../puppet_x/simpkv/function.rb', File.dirname(__FILE__))

# @summary Reads a key, and makes it first when it is not there
#
# However many catalogs are compiled at the same moment, on however many compilers, the first one's value is stored and
# all of them return it. Where a directory is replicated, that is so for compilers that write to the same server: name
# one in `write_uri`. It is asked when `ldap_uri` has no such key; what `ldap_uri` has is returned as it is there, by
# `simpkv::get`, too. A backend of a third-party type whose plugin has no `put_new` is asked whether the key is there
# before it is stored; of two that do so at the same moment, the last one's value stays.
Puppet::Functions.create_function(:'simpkv::get_or_create', TOPLEVEL_BINDING.eval(File.read(base), base)) do
  # Makes the value only where it is needed.
  #
  # @param key
  #   A path such as `app1/db/password`, as for `simpkv::put`.
  # @param metadata
  #   What to store with the value.
  # @param options
  #   Merged over `simpkv::options` of Hiera.
  # @option options [String] 'backend' The name of the entry of `backends` to use.
  # @option options [Hash] 'backends' Named backends, each a hash with `type`, `id` and the options of its type.
  # @option options [String] 'app_id' Picks the backend, where `backend` is not set: the one of that name, else the one
  #   whose name is the longest beginning of it, else `default`.
  # @option options [Boolean] 'global' Whether the key belongs to all environments. Default: false.
  # @option options [Enum[write,skip]] 'noop_writes' What a write comes to on a node that runs in noop: `skip` is a
  #   notice and no write, and for a key that is not there the answer is the value that would have been stored. It is
  #   not remembered: a second call for the key in the same catalog makes another value, and `simpkv::get` fails for it.
  #   Default: write.
  # @option options [Boolean] 'rich_data' Whether a Timestamp, Regexp, SemVer and the like come back as they were.
  #   Default: false.
  # @option options [Boolean] 'sensitive' Whether values come as Sensitive. Default: false.
  # @option options [Boolean] 'softfail' Whether a failing backend is a warning only. Default: false.
  # @param block
  #   Is given the key and answers the value, as `simpkv::put` takes it. It runs only when the key is not there; what it
  #   answers is dropped when another catalog was faster.
  # @return [Optional[Struct[{value => Any, Optional[metadata] => Hash}]]] what is stored under the key, as of
  #   `simpkv::get`; with `softfail`, `undef` when the backend failed
  # @raise ArgumentError when the key or the configuration is wrong
  # @raise LoadError when simpkv's own code or the gem `simpkv` cannot be loaded
  # @raise RuntimeError when the backend fails, unless `softfail` is set
  # @example A password that is made once
  #   $password = simpkv::get_or_create('app1/db/password') |$key| {
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

  # Takes a value that is there already. Metadata come after it: where a block is forgotten, they would be the value.
  #
  # @param key
  #   A path such as `app1/db/password`, as for `simpkv::put`.
  # @param value
  #   What to store, as for `simpkv::put`.
  # @param metadata
  #   What to store with the value.
  # @param options
  #   Merged over `simpkv::options` of Hiera; as above.
  # @return [Optional[Struct[{value => Any, Optional[metadata] => Hash}]]] what is stored under the key
  # @raise ArgumentError when the key or the configuration is wrong
  # @raise LoadError when simpkv's own code or the gem `simpkv` cannot be loaded
  # @raise RuntimeError when the backend fails, unless `softfail` is set
  # @example The first node to come is the leader
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
    found = simpkv(scope, :find, key, options)
    return found unless found == false

    value = yield(key.dup)
    if value.nil?
      raise ArgumentError, "simpkv::get_or_create with key='#{key}': the block answers undef, which is no value"
    end

    simpkv(scope, :create, key, options, value, metadata)
  end

  def with_value(scope, key, value, metadata = {}, options = {})
    with_block(scope, key, metadata, options) { value }
  end
end
