# frozen_string_literal: true

require_relative '../../../puppet_x/simpkv/parts'

# @summary Stores a value and its metadata under a key
#
# The key belongs to the environment of the catalog, or with the option `global` to all environments. If the same value
# and metadata are stored already, the function writes nothing, unless the value has expired, or less than half of
# `expires_after` is left. A put without `history` and `expires_after` also removes the history and the expiry of the
# key.
Puppet::Functions.create_function(:'simpkv::put', PuppetX::Simpkv.part(__FILE__, 'function')) do
  # @param key
  #   A path such as `app1/db/password`: segments of `a-z 0-9 . _ : -` separated by `/`, none of them `.` or `..`.
  # @param value
  #   A string, number, boolean, Binary or Sensitive, or arrays and hashes of these and of undef. A Sensitive comes
  #   back as a Sensitive. A Timestamp, Regexp, SemVer or the like comes back as a string, unless `rich_data` is set.
  #   A value that cannot be stored is an error, which names its place: `value['a'][3]`.
  # @param metadata
  #   Information about the value, for its readers: any hash of such values.
  # @param options
  #   Options of this call, which take precedence over `simpkv::options` of Hiera.
  # @option options [String] 'backend' The name of the entry of `backends` to use.
  # @option options [Hash] 'backends' Named backends, each a hash with `type`, `id` and the options of its type.
  # @option options [String] 'app_id' Chooses the backend if `backend` is not set: the one of that name, else the one
  #   with the longest name that the `app_id` starts with, else `default`.
  # @option options [Boolean] 'global' True: the key belongs to all environments. Default: false.
  # @option options [Variant[Integer,String]] 'expires_after' The time after which the value expires: seconds, or a
  #   number with `s`, `m`, `h`, `d` or `y`, such as `90d`. Default: it does not expire.
  # @option options [Integer[0,100]] 'history' The number of earlier values that the key keeps. Default: the option
  #   `history` of the backend.
  # @option options [Enum[write,skip]] 'noop_writes' For a node that runs in noop mode: `write` stores the value,
  #   `skip` logs a notice instead. Default: write.
  # @option options [Boolean] 'rich_data' True: values such as Timestamp, Regexp and SemVer come back with their type.
  #   Default: false.
  # @option options [Boolean] 'softfail' True: a failing backend causes a warning only. Default: false.
  # @return [Boolean] `true`; with `softfail`, `false` if the backend failed
  # @raise ArgumentError if the key or the configuration is invalid
  # @raise LoadError if simpkv's own code or the gem `simpkv` cannot be loaded
  # @raise RuntimeError if the backend fails, unless `softfail` is set
  # @example Keep a password with a note on where it came from
  #   simpkv::put('app1/db/password', $password, { 'made_by' => $facts['networking']['fqdn'] })
  # @example Keep the last 5 values, and read the one before the current one
  #   simpkv::put('app1/release', '2.1.0', {}, { 'history' => 5 })
  #   $previous = simpkv::get('app1/release', { 'version' => -1, 'default' => undef })['value']
  dispatch :put do
    scope_param
    param 'String[1]', :key
    param 'NotUndef', :value
    optional_param 'Hash', :metadata
    optional_param 'Hash', :options
    return_type 'Boolean'
  end

  def put(scope, key, value, metadata = {}, options = {})
    simpkv(scope, :put, key, options, value, metadata)
  end
  alias_method :direct, :put

  private

  # Whether the arguments have the types that the dispatch declares.
  def usual?(key = nil, value = nil, metadata = {}, *options)
    super(key, *options) && !value.nil? && value != :undef && metadata.instance_of?(Hash)
  end
end
