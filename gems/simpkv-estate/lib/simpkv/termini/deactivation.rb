# frozen_string_literal: true

require 'simpkv/termini'

module Simpkv
  module Termini
    # Deactivates nodes, for `puppet node deactivate`.
    module Deactivation
      class << self
        # @param names [Array<String>] of nodes
        # @return [Hash{String => Hash}] by the names of the nodes: see {Estate#deactivate}
        # @raise [ArgumentError] there is no name
        # @raise [Puppet::Error] a node left nothing, or cannot be deactivated; the other nodes were. Or the store
        #   cannot be used: then the nodes after that are not tried
        def perform(names)
          raise ArgumentError, 'name at least one node: puppet node deactivate <node>' if names.empty?

          errors = []
          removed = {}
          names.all? { |name| deactivate(name, removed, errors) }
          nothing, something = removed.partition { |_, subjects| subjects.empty? }.map(&:to_h)
          errors << missing(nothing.keys) if nothing.any?
          refuse(something, errors) if errors.any?
          removed
        end

        # @param removed [Hash{String => Hash}] the result of {perform}
        # @return [Array<String>] a line for each node
        def lines(removed)
          removed.map { |name, result| Estate::Deactivation.line(name, result) }
        end

        private

        # Tells which nodes were deactivated, and why others were not.
        def refuse(removed, errors)
          lines(removed).each { |line| Puppet.notice(line) }
          raise Puppet::Error, errors.join("\n")
        end

        def missing(names)
          "simpkv estate: there is nothing of the node '#{names.join("', '")}' to deactivate"
        end

        # @param removed [Hash{String => Hash}] receives what was removed
        # @param errors [Array<String>] receives why the node cannot be deactivated
        # @return [Boolean] whether other nodes can be deactivated, as far as is known
        def deactivate(name, removed, errors)
          of_node = false
          Termini.perform("deactivate '#{name}'", node: name, soft: false) do |estate|
            removed[name] = estate.deactivate(name)
          rescue Error => e
            of_node = !e.is_a?(TransientError)
            raise
          end
          true
        rescue Puppet::Error => e
          errors << e.message
          of_node
        end
      end
    end
  end
end
