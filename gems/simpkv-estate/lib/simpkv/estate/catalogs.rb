# frozen_string_literal: true

module Simpkv
  class Estate
    # The last catalog of each node, as plain data.
    class Catalogs < Documents
      def initialize(estate)
        super(estate, 'catalogs')
      end

      private

      def valid?(catalog)
        catalog.is_a?(Hash)
      end
    end
  end
end
