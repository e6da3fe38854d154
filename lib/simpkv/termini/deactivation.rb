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
        # @raise [Puppet::Error] a node left nothing, or cannot be removed; what the other nodes left was removed
        def perform(names)
          raise ArgumentError, 'name at least one node: puppet node deactivate <node>' if names.empty?

          errors = []
          removed = names.to_h { |name| [name, remove(name) { |error| errors << error }] }.compact
          nothing, something = removed.partition { |_, subjects| subjects.empty? }.map(&:to_h)
          errors << missing(nothing.keys) if nothing.any?
          refuse(something, errors) if errors.any?
          removed
        end

        # @param removed [Hash{String => Hash}] the result of {perform}
        # @return [Array<String>] a line for each node
        def lines(removed)
          removed.map { |name, subjects| Estate::Removal.line(name, subjects) }
        end

        private

        # Tells what was removed, and why other nodes were not.
        def refuse(removed, errors)
          lines(removed).each { |line| Puppet.notice(line) }
          raise Puppet::Error, errors.join("\n")
        end

        def missing(names)
          "simpkv estate: there is nothing of the node '#{names.join("', '")}' to remove"
        end

        # @yieldparam error [String] why the node cannot be removed
        # @return [Hash, nil] nil after an error
        def remove(name)
          Termini.perform("deactivate '#{name}'", node: name, soft: false) { |estate| estate.deactivate(name) }
        rescue Puppet::Error => e
          yield e.message
          nil
        end
      end
    end
  end
end
