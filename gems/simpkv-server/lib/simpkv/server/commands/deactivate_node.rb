# frozen_string_literal: true

require 'simpkv/server/commands/catalog_times'

module Simpkv
  module Server
    module Commands
      # The command `deactivate node`: removes what a node exports, and marks it.
      class DeactivateNode
        VERSION = 3

        # @return [String]
        attr_reader :certname

        # @param payload [Payload]
        # @raise [Problem]
        def initialize(payload)
          @certname = payload.text('certname')
          @time = payload.time('producer_timestamp', null: true)
          @text = payload.timestamp('producer_timestamp', null: true)
        end

        # Does nothing if the node has sent something since.
        #
        # @param estate [Estate]
        # @return [Boolean] whether it did something
        # @raise [Error, ConfigError]
        def save(estate)
          return false if @time && sent(estate).any? { |time| CatalogTimes.later?(time, @time) }

          estate.deactivate(*[@certname, @text].compact)
          true
        end

        private

        # @return [Array<String, nil>] the times of the last catalog, report, exports and facts that have changed
        def sent(estate)
          status, record, facts = [estate.statuses, estate.inventory, estate.facts].map do |documents|
            documents.readable(@certname)&.value.to_h
          end
          [*status.values_at(CatalogTimes::MEMBER, 'report_timestamp'), record[Estate::Exports::TIME],
           facts[Estate::Produced::TIME] || facts['timestamp']]
        end
      end
    end
  end
end
