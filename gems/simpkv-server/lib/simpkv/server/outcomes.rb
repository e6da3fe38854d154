# frozen_string_literal: true

module Simpkv
  module Server
    # How often something has ended in which way, for metrics. Thread-safe.
    class Outcomes
      # @param names [Array<Symbol>] the ways that are known before something has ended so
      def initialize(*names)
        @mutex = Mutex.new
        @counts = names.to_h { |name| [name, 0] }
      end

      # @param outcome [Symbol]
      # @return [void]
      def count(outcome)
        @mutex.synchronize { @counts[outcome] = @counts.fetch(outcome, 0) + 1 }
      end

      # @return [Hash{Symbol => Integer}]
      def to_h
        @mutex.synchronize { @counts.dup }
      end
    end
  end
end
