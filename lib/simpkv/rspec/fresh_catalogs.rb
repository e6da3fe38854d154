# frozen_string_literal: true

module Simpkv
  module Kit
    # Makes rspec-puppet compile a catalog again for each example that uses a store. It keeps the catalogs of earlier
    # examples with the same facts, parameters and `hiera_data`; such a catalog has called its functions with the store
    # of another example.
    module FreshCatalogs
      # @return [Array] what rspec-puppet compares: the module's own value, and the number of uses of stores so far
      def hiera_data
        [defined?(super) ? super : nil, UnitTest.kit.uses]
      end
    end
  end
end
