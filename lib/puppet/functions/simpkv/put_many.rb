# frozen_string_literal: true

base = File.expand_path('../../../puppet_x/simpkv/function.rb', File.dirname(__FILE__))

# @summary Stores many keys at once
#
# Over a network this takes a few round trips, not some for each key; in files, as long as a `simpkv::put` of each. Each
# key is stored or not by itself: when one fails, the others stay stored.
Puppet::Functions.create_function(:'simpkv::put_many', TOPLEVEL_BINDING.eval(File.read(base), base)) do
  # @param entries
  #   By key, a hash with `value` and perhaps `metadata`, as `simpkv::get_many` answers them in `keys`. When a value
  #   cannot be stored by its kind, or a key is there twice in two spellings, nothing is stored.
  # @param options
  #   Merged over `simpkv::options` of Hiera.
  # @option options [String] 'backend' The name of the entry of `backends` to use.
  # @option options [Hash] 'backends' Named backends, each a hash with `type`, `id` and the options of its type.
  # @option options [String] 'app_id' Picks the backend, where `backend` is not set: the one of that name, else the one
  #   whose name is the longest beginning of it, else `default`.
  # @option options [Boolean] 'global' Whether the keys belong to all environments. Default: false.
  # @option options [Enum[fail,return]] 'errors' How to report keys that were not stored: `fail` fails the call and
  #   names them, `return` returns their errors. Default: fail.
  # @option options [Enum[write,skip]] 'noop_writes' What a write comes to on a node that runs in noop: `skip` is a
  #   notice and no write. Default: write.
  # @option options [Boolean] 'rich_data' Whether a Timestamp, Regexp, SemVer and the like come back as they were.
  #   Default: false.
  # @option options [Boolean] 'softfail' Whether a failing backend is a warning only. Default: false.
  # @return [Optional[Struct[{stored => Array[String], errors => Hash[String, String]}]]] the keys that have their
  #   values now, and by key why one was not stored: empty, unless the option `errors` is `return`. With `softfail`,
  #   `undef` when the backend failed, or a key was not stored
  # @raise ArgumentError when a key, an entry or the configuration is wrong
  # @raise LoadError when simpkv's own code or the gem `simpkv` cannot be loaded
  # @raise RuntimeError when the backend fails or a key was not stored, unless `softfail` is set
  # @example Two keys
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

  # What the type of the parameter could say, but for its messages: Puppet's show numbers that are in the hash.
  def check(key, entry)
    raise ArgumentError, 'simpkv::put_many: a key is no String' unless key.is_a?(String)
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
