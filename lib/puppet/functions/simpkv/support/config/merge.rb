# frozen_string_literal: true

# @summary Merges the options of a call over Hiera's, and chooses the backend
#
# Hiera's options are those of `simpkv::options`. Hashes are merged, arrays united, and `undef` overrides nothing. Only
# the `ldap_uri` of a backend is replaced as a whole. The environment is the compiler's, or in Bolt's own environments
# `bolt_environment`. The function checks the result.
Puppet::Functions.create_function(:'simpkv::support::config::merge', Puppet::Functions::InternalFunction) do
  # @param options
  #   The options of the call.
  # @param backends
  #   The types of backends that have a plugin.
  # @return [Hash] the merged options; `backend`, `backends`, `environment`, `global` and `softfail` are always set
  # @raise ArgumentError if an option is invalid; the message names the option, not its value
  # @raise LoadError if simpkv's own code or the gem `simpkv` cannot be loaded
  # @example Find the backend of an application's keys
  #   simpkv::support::config::merge({ 'app_id' => 'app1' }, ['file'])
  dispatch :merge do
    scope_param
    param 'Hash', :options
    param 'Array', :backends
    return_type 'Hash'
  end

  def merge(scope, options, backends)
    adapter = internal_call_function(scope, 'simpkv::support::load', [])
    adapter.site_options ||= site_options(scope, adapter)
    adapter.merge(options, scope.compiler.environment.name.to_s, backends)
  end

  # Runs once for each catalog.
  def site_options(scope, adapter)
    adapter.warn_of_hiera(scope)
    internal_call_function(scope, 'lookup', ['simpkv::options', { 'default_value' => {} }])
  end
end
