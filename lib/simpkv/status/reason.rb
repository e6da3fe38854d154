# frozen_string_literal: true

module Simpkv
  module Status
    # Compares the reasons why parts cannot be read.
    module Reason
      # What a pool says about its next attempt to reach a server.
      NEXT_ATTEMPT = /\((?:being )?tried again [^)]*\)/.freeze
      private_constant :NEXT_ATTEMPT

      # @param error [String]
      # @return [Array<String>] the same for errors that name the same servers in another order, or with another time
      #   until the next attempt
      def self.of(error)
        error.gsub(NEXT_ATTEMPT, '').split(/[;:()]/).map(&:strip).reject(&:empty?).sort
      end
    end
  end
end
