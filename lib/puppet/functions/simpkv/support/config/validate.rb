# frozen_string_literal: true

# @summary Checks that a backend is chosen, configured and available, and that no two backends clash
Puppet::Functions.create_function(:'simpkv::support::config::validate', Puppet::Functions::InternalFunction) do
  # @param options
  #   Merged options, as `simpkv::support::config::merge` returns them.
  # @param backends
  #   The types of backends that have a plugin.
  # @return [Undef]
  # @raise ArgumentError if an option is invalid; the message names the option, not its value
  # @raise LoadError if the gem `simpkv` cannot be loaded
  # @example Check options
  #   simpkv::support::config::validate({
  #     'backend'  => 'default',
  #     'backends' => { 'default' => { 'type' => 'file', 'id' => 'default' } },
  #   }, ['file'])
  dispatch :validate do
    scope_param
    param 'Hash', :options
    param 'Array', :backends
  end

  def validate(scope, options, backends)
    internal_call_function(scope, 'simpkv::support::native', [])
    Simpkv::Validation.check(options, backends)
    nil
  end
end
