# frozen_string_literal: true

module Simpkv
  class Estate
    # The last catalog of each node, as plain data: Puppet's, with the members of {Produced}, and `transaction_uuid` and
    # `job_id` of the run. It has no resources that are only exported: {EXPORTED_EDGES} has the edges to these.
    class Catalogs < Documents
      # The member with the edges to exported resources, which Puppet would not find in the catalog.
      EXPORTED_EDGES = 'exported_edges'

      def initialize(estate)
        super(estate, 'catalogs')
      end

      private

      def valid?(catalog)
        catalog.is_a?(Hash) && Produced.valid?(catalog)
      end
    end
  end
end
