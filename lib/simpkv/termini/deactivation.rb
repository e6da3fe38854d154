# frozen_string_literal: true

require 'simpkv/termini'

module Simpkv
  module Termini
    # Removes what nodes left, for `puppet node deactivate`.
    module Deactivation
      class << self
        # @param names [Array<String>] of nodes
        # @return [Hash{String => Hash}] what was removed, by the names of the nodes: see {Estate#deactivate}
        # @raise [ArgumentError] there is no name
        # @raise [Puppet::Error] a node left nothing, or the store cannot be used; what the other nodes left was removed
        def perform(names)
          raise ArgumentError, 'name at least one node: puppet node deactivate <node>' if names.empty?

          removed = names.to_h { |name| [name, remove(name)] }
          nothing, something = removed.partition { |_, subjects| subjects.empty? }.map(&:to_h)
          return removed if nothing.empty?

          lines(something).each { |line| Puppet.notice(line) }
          raise Puppet::Error, "simpkv estate: there is nothing of the node '#{nothing.keys.join("', '")}' to remove"
        end

        # @param removed [Hash{String => Hash}] the result of {perform}
        # @return [Array<String>] a line for each node
        def lines(removed)
          removed.map { |name, subjects| Estate::Removal.line(name, subjects) }
        end

        private

        def remove(name)
          Termini.perform("deactivate '#{name}'", node: name, soft: false) { |estate| estate.deactivate(name) }
        end
      end
    end
  end
end
