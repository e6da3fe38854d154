# frozen_string_literal: true

# @summary Checks a key, or the name of a folder
Puppet::Functions.create_function(:'simpkv::support::key::validate', Puppet::Functions::InternalFunction) do
  # @param key
  #   A path of `a-z 0-9 . _ : / -`. No segment may be `.` or `..`, nor longer than 255 bytes.
  # @param upper
  #   True: the key may have `A-Z` too, as for a backend that is `case_sensitive`.
  # @return [Undef]
  # @raise ArgumentError if the key is invalid
  # @raise LoadError if the gem `simpkv` cannot be loaded
  # @example Check a key before it is used
  #   simpkv::support::key::validate('app1/db/password')
  dispatch :validate do
    scope_param
    param 'String[1]', :key
    optional_param 'Boolean', :upper
  end

  def validate(scope, key, upper = false) # rubocop:disable Style/OptionalBooleanParameter
    internal_call_function(scope, 'simpkv::support::native', [])
    Simpkv::Native.key_check(key, upper)
    nil
  rescue Simpkv::Error => e
    # The core's messages leave control characters out. A person who searches for a key needs it as it was written.
    raise ArgumentError, e.message.sub(/\Akey '.*' contains/) { "key '#{key}' contains" }
  end
end
