# frozen_string_literal: true

require 'simpkv/estate'

module Simpkv
  module Status
    # The compilers that have stored counters of their connections within the last hour: see {Estate::Counters}.
    module Compilers
      # Counters of a server that are added up.
      SUMS = %w[connects failures timeouts].freeze
      private_constant :SUMS

      # @param estate [Estate]
      # @return [Array<Hash{String => Object}>] by name: `name`, `time`, `pid`, `version` of simpkv if the compiler has
      #   stored it, and `connects`, `failures` and `timeouts` of all its connections since its process started
      # @raise [Error, ConfigError] not all counters can be read
      def self.of(estate)
        estate.counters.recent.sort.map do |name, counters|
          servers = counters['pools'].flat_map { |pool| pool['servers'] }
          sums = SUMS.to_h { |member| [member, servers.sum { |server| server[member] || 0 }] }
          { 'name' => name }.merge(counters.slice('time', 'pid', 'version'), sums)
        end
      end
    end
  end
end
