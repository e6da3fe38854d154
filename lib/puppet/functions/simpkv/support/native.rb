# frozen_string_literal: true

# @summary Loads the gem simpkv, or says how to install it
#
# @api private
Puppet::Functions.create_function(:'simpkv::support::native') do
  # @return [Undef]
  # @raise LoadError if it cannot be loaded, or does not fit this module
  # @example Load the gem before its first use
  #   simpkv::support::native()
  dispatch(:require_gem) { return_type 'Undef' }

  loading = File.expand_path('../../../../puppet_x/simpkv/gem_loading.rb', File.dirname(__FILE__))
  include TOPLEVEL_BINDING.eval(File.read(loading), loading)
end
