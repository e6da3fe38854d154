# frozen_string_literal: true

require_relative '../../../puppet_x/simpkv/parts'

# @summary Reads the value and the metadata that are stored under a key
Puppet::Functions.create_function(:'simpkv::get', PuppetX::Simpkv.part(__FILE__, 'function')) do
  # @param key
  #   A path such as `app1/db/password`, as given to `simpkv::put`. A missing key is an error, unless the options have
  #   a `default`.
  # @param options
  #   Options of this call, which take precedence over `simpkv::options` of Hiera.
  # @option options [String] 'backend' The name of the entry of `backends` to use.
  # @option options [Hash] 'backends' Named backends, each a hash with `type`, `id` and the options of its type.
  # @option options [String] 'app_id' Chooses the backend if `backend` is not set: the one of that name, else the one
  #   with the longest name that the `app_id` starts with, else `default`.
  # @option options [Boolean] 'global' True: the key belongs to all environments. Default: false.
  # @option options [Enum[absent,warn,return]] 'expired' What to do with an expired key: `absent` treats it as
  #   missing, `return` returns it, `warn` returns it with a warning. Default: absent.
  # @option options [Any] 'default' The value to return for a missing key, which may be `undef`. It has an effect in the
  #   options of the call only, not in Hiera. A failing backend is still an error.
  # @option options [Boolean] 'sensitive' True: values are Sensitive, including a `default` other than `undef`.
  #   Default: false.
  # @option options [Boolean] 'softfail' True: a failing backend causes a warning only. Default: false.
  # @option options [Integer[-100,0]] 'version' The version to read: 0 is the current value, -1 the one before it, as
  #   far as the key has a `history`. A missing version is like a missing key. Default: 0.
  # @return [Optional[Struct[{value => Any, Optional[metadata] => Hash}]]] the value, and the metadata unless they are
  #   empty; a Binary is returned as a string of bytes, for `Binary.new($value, '%r')`; with `softfail`, `undef` if the
  #   backend failed
  # @raise ArgumentError if the key or the configuration is invalid
  # @raise LoadError if simpkv's own code or the gem `simpkv` cannot be loaded
  # @raise RuntimeError if the backend fails, unless `softfail` is set
  # @example Read a password
  #   $password = simpkv::get('app1/db/password')['value']
  # @example Use another value for a missing key
  #   $banner = simpkv::get('app1/banner', { 'default' => 'Welcome' })['value']
  # @example Use another value if the backend fails
  #   $entry = simpkv::get('app1/banner', { 'softfail' => true })
  #   $banner = $entry ? { undef => 'Welcome', default => $entry['value'] }
  dispatch :get do
    scope_param
    param 'String[1]', :key
    optional_param 'Hash', :options
    return_type 'Optional[Hash]'
  end

  # Two ways lead to the same result, see docs/adr/0101. This is the usual one: Puppet's dispatcher checks the types of
  # the arguments and of the result, and the adapter takes all steps.
  def get(scope, key, options = {})
    simpkv(scope, :get, key, options)
  end

  # The short way, for arguments that `call` in function.rb has checked. It makes a native call only, if an earlier get
  # of the catalog has shown that this is enough with these options (DirectGet). Otherwise the adapter takes all steps.
  def direct(scope, key, options = {})
    adapter = adapter_of(scope)
    result = adapter ? adapter.calls.direct_get(key, options) : false
    false.equal?(result) ? get(scope, key, options) : result
  end
end
