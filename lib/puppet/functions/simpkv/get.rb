# frozen_string_literal: true

base = File.expand_path('../../../puppet_x/simpkv/function.rb', File.dirname(__FILE__))

# @summary Reads the value and the metadata that are stored under a key
Puppet::Functions.create_function(:'simpkv::get', TOPLEVEL_BINDING.eval(File.read(base), base)) do
  # @param key
  #   A path such as `app1/db/password`, as given to `simpkv::put`. A key that is not there is a failure, unless the
  #   options have a `default`.
  # @param options
  #   Merged over `simpkv::options` of Hiera.
  # @option options [String] 'backend' The name of the entry of `backends` to use.
  # @option options [Hash] 'backends' Named backends, each a hash with `type`, `id` and the options of its type.
  # @option options [String] 'app_id' Picks the backend, where `backend` is not set: the one of that name, else the one
  #   whose name is the longest beginning of it, else `default`.
  # @option options [Boolean] 'global' Whether the key belongs to all environments. Default: false.
  # @option options [Any] 'default' The value to return when there is no such key; `undef` is one, too. It counts in the
  #   options of the call only, not in Hiera. A backend that fails is a failure all the same.
  # @option options [Boolean] 'sensitive' Whether values come as Sensitive, a `default` other than `undef` included.
  #   Default: false.
  # @option options [Boolean] 'softfail' Whether a failing backend is a warning only. Default: false.
  # @return [Optional[Struct[{value => Any, Optional[metadata] => Hash}]]] the value, and the metadata unless they are
  #   empty; what was stored as a Binary is a string of bytes, which `Binary.new($value, '%r')` takes; with `softfail`,
  #   `undef` when the backend failed
  # @raise ArgumentError when the key or the configuration is wrong
  # @raise LoadError when simpkv's own code or the gem `simpkv` cannot be loaded
  # @raise RuntimeError when the backend fails, unless `softfail` is set
  # @example Read a password
  #   $password = simpkv::get('app1/db/password')['value']
  # @example Use another value when there is no such key
  #   $banner = simpkv::get('app1/banner', { 'default' => 'Welcome' })['value']
  # @example Do without when it cannot be read
  #   $entry = simpkv::get('app1/banner', { 'softfail' => true })
  #   $banner = $entry ? { undef => 'Welcome', default => $entry['value'] }
  dispatch :get do
    scope_param
    param 'String[1]', :key
    optional_param 'Hash', :options
    return_type 'Optional[Hash]'
  end

  def get(scope, key, options = {})
    simpkv(scope, :get, key, options)
  end
end
