# frozen_string_literal: true

require_relative 'estate_data'

# What the nodes of the benchmark of a site keep beside their estate: keys of 1 KB of their own, and a folder for each
# cluster.
module SiteData
  # The gets of a run, the keys of a node, the nodes of a cluster and the keys of its folder.
  GETS = 20
  KEYS = 5
  CLUSTER = 50
  # One run in so many collects one type of all nodes.
  COLLECTOR = 100
  COLLECTED = 'bench::host'
  DOCUMENT = %({"value":"#{'a' * 1000}"})

  class << self
    # @return [Array<String>] the keys of a node
    def paths(node)
      Array.new(KEYS) { |number| "environments/production/nodes/#{EstateData.name(node)}/k#{number}" }
    end

    # @return [String] the folder of a node's cluster
    def cluster(node)
      "environments/production/clusters/c#{node / CLUSTER}"
    end

    # @param nodes [Array<Integer>]
    # @return [Hash{String => String}] their documents
    def documents(nodes)
      keys = nodes.flat_map { |node| [*paths(node), "#{cluster(node)}/#{EstateData.name(node)}"] }
      keys.to_h { |path| [path, DOCUMENT] }
    end
  end
end
