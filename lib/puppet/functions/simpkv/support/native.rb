# frozen_string_literal: true

require_relative '../../../../puppet_x/simpkv/parts'

# @summary Loads the gem simpkv, or says how to install it
#
# @api private
Puppet::Functions.create_function(:'simpkv::support::native') do
  # @return [Undef]
  # @raise LoadError if it cannot be loaded, or does not fit this module
  # @example Load the gem before its first use
  #   simpkv::support::native()
  dispatch(:require_gem) { return_type 'Undef' }

  include PuppetX::Simpkv.part(__FILE__, 'gem_loading')
end
