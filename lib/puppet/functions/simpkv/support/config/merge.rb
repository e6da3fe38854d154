# frozen_string_literal: true

require 'deep_merge/core'

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
    adapter.site_options ||= internal_call_function(scope, 'lookup', ['simpkv::options', { 'default_value' => {} }])
    merged = deep_merge(adapter.site_options, options)
    merged['backends'] = Simpkv::Config.default_backends(agent: Puppet.run_mode.agent?) unless merged.key?('backends')
    merged['environment'] = environment(scope, adapter, merged)
    ignored = Simpkv::Config.ignored_app_id(merged, options['app_id'])
    merged['backend'] = Simpkv::Config.backend_for(merged, options['app_id'])
    check_options(merged)
    internal_call_function(scope, 'simpkv::support::config::validate', [merged, backends])
    adapter.warn_of(ignored + Simpkv::Config.doubts(merged))
    merged
  end

  def environment(scope, adapter, options)
    compiling = scope.compiler.environment.name.to_s
    Simpkv::Config.environment(options, compiling, adapter.made_up?(compiling))
  end

  # Checks every option before the call does anything, and converts those that every call reads. An `app_id` of Hiera
  # has no effect, and that of the call was checked when it chose the backend.
  def check_options(options)
    (Simpkv::Config::CALL.map(&:name) - ['app_id']).each { |name| Simpkv::Config.flag(options, name) }
    %w[softfail global].each { |name| options[name] = Simpkv::Config.flag(options, name) }
  end

  def deep_merge(site, call)
    raise Simpkv::ConfigError, "'simpkv::options' in Hiera is not a Hash" unless site.is_a?(Hash)

    # On copies, since the gem changes both of its arguments and either may be frozen.
    site = Simpkv::Config.copy(site)
    call = Simpkv::Config.copy(call)
    forget_undef(site, call)
    forget_replaced(site['backends'], call['backends'])
    DeepMerge.deep_merge!(call, site)
  end

  # The gem lets undef override false.
  def forget_undef(site, call)
    call.delete_if { |name, value| value.nil? && site.key?(name) }
    call.each { |name, value| forget_undef(site[name], value) if value.is_a?(Hash) && site[name].is_a?(Hash) }
  end

  def forget_replaced(site_backends, call_backends)
    return unless site_backends.is_a?(Hash) && call_backends.is_a?(Hash)

    site_backends.each do |name, backend|
      overriding = call_backends[name]
      next unless backend.is_a?(Hash) && overriding.is_a?(Hash) && overriding.key?('ldap_uri')

      backend.delete('ldap_uri')
    end
  end
end
