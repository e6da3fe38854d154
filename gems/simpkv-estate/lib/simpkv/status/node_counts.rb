# frozen_string_literal: true

require 'simpkv/estate'

module Simpkv
  module Status
    # Counts nodes by the status of their last run.
    class NodeCounts
      # A node that was not seen for so many seconds is overdue.
      OVERDUE_AFTER = 86_400
      # By these words, in the order of urgency. A run in noop mode that has not failed is `noop`. A node is `unseen` if
      # no report says how its last run ended.
      STATUSES = %w[failed changed noop unchanged unseen].freeze
      # The most nodes whose status or inventory cannot be read that are named.
      NAMED = 100
      private_constant :STATUSES, :NAMED

      # @param estate [Estate]
      # @param now [Time]
      # @return [Hash{String => Object}] of the active nodes, as pages and queries show them: `total`; `statuses`: a
      #   number for each of {STATUSES}, of which each node counts for one; `overdue`: those that were not seen since
      #   `overdue_since`. And the other nodes: `expired`, not seen for the time of the option `node_ttl`; `never_run`,
      #   declared, and not seen at all. And `unreadable`, the nodes whose status or inventory cannot be read: `total`,
      #   their number, and `nodes`, the first ones with `name` and `documents`, the reasons by the paths of the
      #   documents. If the status is among them, the node is in no other number. And `without_markers`, the folders
      #   to which `simpkv init` adds markers, after an upgrade
      # @raise [Error, ConfigError] the nodes cannot be listed
      def self.of(estate, now = Time.now)
        new(estate, now).counts
      end

      def initialize(estate, now)
        @estate = estate
        @list = Estate::NodeList.new(estate)
        @limit = (now.utc - OVERDUE_AFTER).iso8601
      end

      # @return [Hash{String => Object}] see {NodeCounts.of}
      def counts
        nodes = @list.nodes
        expired, active = nodes.partition { |node| node['expired'] }
        groups = active.group_by { |node| status(node) }
        { 'total' => active.length, 'statuses' => STATUSES.to_h { |name| [name, groups.fetch(name, []).length] },
          'overdue' => active.count { |node| overdue?(node) }, 'overdue_since' => @limit,
          'expired' => expired.length, 'never_run' => @list.never_run(nodes), 'unreadable' => unreadable,
          'without_markers' => @estate.markers.unmade }
      end

      private

      def unreadable
        all = @list.unreadable
        named = all.first(NAMED).map { |name, documents| { 'name' => name, 'documents' => documents } }
        { 'total' => all.length, 'nodes' => named }
      end

      def status(node)
        return 'unseen' unless STATUSES.include?(node['status'])

        node['noop'] && node['status'] != 'failed' ? 'noop' : node['status']
      end

      def overdue?(node)
        node['last_seen'].nil? || node['last_seen'] < @limit
      end
    end
  end
end
