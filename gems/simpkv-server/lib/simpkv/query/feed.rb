# frozen_string_literal: true

require 'simpkv/query'

module Simpkv
  module Query
    # Tells which nodes of an estate have changed. Lists the inventory and the statuses, and compares their digests.
    class Feed
      # @param estate [Estate]
      def initialize(estate)
        @estate = estate
      end

      # @param digests [Hash{String => String}] of the nodes that the caller has, by name
      # @return [Array(Array<String>, Array<String>)] the names of the nodes that are new or have changed, and of those
      #   that are not there any more
      # @raise [ConfigError, Error] the store cannot be listed
      def poll(digests)
        current = @estate.snapshots.digests
        [current.reject { |name, digest| digests[name] == digest }.keys, digests.keys - current.keys]
      end
    end
  end
end
