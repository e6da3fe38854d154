# frozen_string_literal: true

module Simpkv
  module Kit
    # Makes rspec-puppet (2.8 or newer) compile a catalog again for each example that uses a store. rspec-puppet keeps
    # the catalogs of earlier examples with the same facts, parameters and `hiera_data`; such a catalog has called its
    # functions with the store of another example. The kit extends each example, so that no method of a group comes
    # before this one.
    module FreshCatalogs
      # @param parameters [Hash] those of the catalog; rspec-puppet compares `ignored_cache_params`, too, and ignores
      #   them when it compiles
      # @return [Puppet::Resource::Catalog] one that rspec-puppet has kept only if nobody has used a store since
      def build_catalog(parameters)
        compared = parameters.fetch(:ignored_cache_params, {}).merge(simpkv_uses: UnitTest.kit.uses)
        super(parameters.merge(ignored_cache_params: compared))
      end
    end
  end
end
