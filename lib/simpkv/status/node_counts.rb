# frozen_string_literal: true

require 'simpkv/estate'

module Simpkv
  module Status
    # Counts nodes by the status of their last run.
    class NodeCounts
      # A node without a run for so many seconds counts as unseen, whatever its last run was.
      UNSEEN_AFTER = 86_400
      # By these words, in the order of urgency. A node is `unknown` if no report says how its last run ended.
      STATUSES = %w[failed unseen changed noop unchanged unknown].freeze

      # @param estate [Estate]
      # @param now [Time]
      # @return [Hash{String => Object}] `total`; `statuses`: a number for each of {STATUSES}, of which each node counts
      #   for one; `expired`: the nodes without a run for the time of the option `node_ttl`; `unseen_since`: the time
      #   after which a node must have had a run, not to count as unseen
      # @raise [Error, ConfigError] not all nodes can be read
      def self.of(estate, now = Time.now)
        new(estate, now).counts
      end

      def initialize(estate, now)
        @list = Estate::NodeList.new(estate)
        @limit = (now.utc - UNSEEN_AFTER).iso8601
      end

      # @return [Hash{String => Object}] see {NodeCounts.of}
      def counts
        nodes = @list.nodes
        key, why = @list.errors.min_by(&:first)
        raise MalformedError, "'#{key}' cannot be read: #{why}" if key

        groups = nodes.group_by { |node| status(node) }
        { 'total' => nodes.length, 'unseen_since' => @limit,
          'statuses' => STATUSES.to_h { |name| [name, groups.fetch(name, []).length] },
          'expired' => nodes.count { |node| node['expired'] } }
      end

      private

      def status(node)
        return 'unseen' if node['last_seen'].nil? || node['last_seen'] < @limit
        return 'noop' if node['status'] == 'unchanged' && node['noop']

        %w[failed changed unchanged].include?(node['status']) ? node['status'] : 'unknown'
      end
    end
  end
end
