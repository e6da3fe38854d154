# frozen_string_literal: true

require 'simpkv/cli/output'

module Simpkv
  module Cli
    # Words what {Estate#deactivate} removed.
    module NodeRemoval
      # @param name [String] of the node
      # @param subjects [Hash{String => Object}] of {Estate#deactivate}
      # @return [String]
      def self.line(name, subjects)
        return "#{name}: nothing to remove" if subjects.empty?

        "#{name}: removed #{subjects.map { |subject, removed| subject(subject, removed) }.join(', ')}"
      end

      def self.subject(subject, removed)
        removed.is_a?(Integer) ? "#{subject} of #{Output.count(removed, 'type')}" : subject.tr('_', ' ')
      end
      private_class_method :subject
    end
  end
end
