# frozen_string_literal: true

module Simpkv
  class Adapter
    # The files that Hiera reads for a node. Hiera has no list of its keys. But it explains a lookup, for `puppet lookup
    # --explain`, and so names the files.
    module HieraFiles
      # A key that no site has. Hiera looks into all files for it.
      KEY = 'simpkv::opts'
      private_constant :KEY

      class << self
        # @param scope [Puppet::Parser::Scope]
        # @return [Array<String>] the files, in the order of the hierarchy; none if Puppet does not tell, as inside
        #   another lookup
        def of(scope)
          explainer = ::Puppet::Pops::Lookup::Explainer.new
          invocation = ::Puppet::Pops::Lookup::Invocation.new(scope, {}, {}, explainer)
          catch(:no_such_key) { invocation.lookup_adapter.lookup(KEY, invocation, nil) }
          paths(explainer.to_hash)
        rescue StandardError => e
          Puppet.debug { "simpkv: the files of Hiera are unknown: #{e.class}" }
          []
        end

        private

        def paths(node)
          [*node[:path], *node.fetch(:branches, []).flat_map { |branch| paths(branch) }]
        end
      end
    end
  end
end
