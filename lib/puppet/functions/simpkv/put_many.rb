# frozen_string_literal: true

require_relative '../../../puppet_x/simpkv/parts'

# @summary Stores many keys at once
#
# Over a network this takes a few round trips, not several for each key. In files, up to 32 keys wait for the disk at
# once. If one key fails, the others are still stored.
Puppet::Functions.create_function(:'simpkv::put_many', PuppetX::Simpkv.part(__FILE__, 'function')) do
  # @param entries
  #   By key, a hash with `value` and optional `metadata`, as `simpkv::get_many` returns them in `keys`. If a value has
  #   a type that cannot be stored, or two spellings name one key, the function stores nothing.
  # @param options
  #   Options of this call, which take precedence over `simpkv::options` of Hiera.
  # @option options [String] 'backend' The name of the entry of `backends` to use.
  # @option options [Hash] 'backends' Named backends, each a hash with `type`, `id` and the options of its type.
  # @option options [String] 'app_id' Chooses the backend if `backend` is not set: the one of that name, else the one
  #   with the longest name that the `app_id` starts with, else `default`.
  # @option options [Boolean] 'global' True: the keys belong to all environments. Default: false.
  # @option options [Variant[Integer,String]] 'expires_after' The time after which the values expire: seconds, or a
  #   number with `s`, `m`, `h`, `d` or `y`, such as `90d`. Default: they do not expire.
  # @option options [Integer[0,100]] 'history' The number of earlier values that each key keeps. Default: the option
  #   `history` of the backend.
  # @option options [Enum[fail,return]] 'errors' How to report keys that were not stored: `fail` fails the call and
  #   names them, `return` returns their errors. Default: fail.
  # @option options [Enum[write,skip]] 'noop_writes' For a node that runs in noop mode: `write` stores the value,
  #   `skip` logs a notice instead. Default: write.
  # @option options [Boolean] 'rich_data' True: values such as Timestamp, Regexp and SemVer come back with their type.
  #   Default: false.
  # @option options [Boolean] 'softfail' True: a failing backend causes a warning only. Default: false.
  # @return [Optional[Struct[{stored => Array[String], errors => Hash[String, String]}]]] the keys that have their
  #   values now, and by key the reason why a key was not stored, empty unless the option `errors` is `return`. With
  #   `softfail`, `undef` if the backend failed, or a key was not stored
  # @raise ArgumentError if a key, an entry or the configuration is invalid
  # @raise LoadError if simpkv's own code or the gem `simpkv` cannot be loaded
  # @raise RuntimeError if the backend fails or a key was not stored, unless `softfail` is set
  # @example Store two keys
  #   simpkv::put_many({ 'hosts/db1' => { 'value' => '10.0.0.1' }, 'hosts/db2' => { 'value' => '10.0.0.2' } })
  dispatch :put_many do
    scope_param
    param 'Hash', :entries
    optional_param 'Hash', :options
    return_type 'Optional[Hash]'
  end

  def put_many(scope, entries, options = {})
    entries.each { |key, entry| check(key, entry) }
    simpkv(scope, :put_many, entries, options)
  end

  # Checks an entry. A parameter type would do the same, but Puppet's message names a position in the hash, not the key.
  def check(key, entry)
    raise ArgumentError, 'simpkv::put_many: a key is not a String' unless key.is_a?(String)
    raise ArgumentError, 'simpkv::put_many: a key is empty' if key.empty?
    return if entry?(entry)

    raise ArgumentError, "simpkv::put_many with key='#{key}': expected a hash with 'value', which is not undef, and " \
                         "perhaps 'metadata', a hash"
  end

  def entry?(entry)
    entry.is_a?(Hash) && (entry.keys - %w[value metadata]).empty? && !entry['value'].nil? &&
      entry.fetch('metadata') { {} }.is_a?(Hash)
  end
end
