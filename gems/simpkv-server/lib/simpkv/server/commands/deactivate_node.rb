# frozen_string_literal: true

require 'simpkv/server/commands/catalog_times'

module Simpkv
  module Server
    module Commands
      # The command `deactivate node`: removes what a node exports, and marks it.
      class DeactivateNode
        VERSION = 3

        # @param payload [Payload]
        # @raise [Problem]
        def initialize(payload)
          @certname = payload.text('certname')
          @time = payload.time('producer_timestamp', null: true)
          @text = payload.timestamp('producer_timestamp', null: true)
        end

        # Does nothing if the node has had a newer catalog since.
        #
        # @param estate [Estate]
        # @return [void]
        # @raise [Error, ConfigError]
        def save(estate)
          return if @time && CatalogTimes.new(estate, @certname).newer?(@time)

          estate.deactivate(*[@certname, @text].compact)
        end
      end
    end
  end
end
