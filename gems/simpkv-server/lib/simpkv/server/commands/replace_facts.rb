# frozen_string_literal: true

require 'simpkv/estate/puppetdb_data'

module Simpkv
  module Server
    module Commands
      # The command `replace facts`: the facts of a node.
      class ReplaceFacts
        VERSION = 5

        # @param payload [Payload]
        # @raise [Problem]
        def initialize(payload)
          @certname = payload.text('certname')
          payload.text('environment', null: true)
          payload.text('producer', null: true)
          @time = payload.time('producer_timestamp')
          @values = payload.object('values')
        end

        # Does nothing if newer facts are stored.
        #
        # @param estate [Estate]
        # @return [void]
        # @raise [Error, ConfigError]
        def save(estate)
          return if older?(estate)

          estate.facts.save(@certname, Estate::PuppetDBData.facts(@values),
                            trusted: Estate::PuppetDBData.trusted(@values), timestamp: @time.iso8601)
        end

        private

        # The stored time is that of the command which last changed the facts.
        def older?(estate)
          stored = estate.facts.find(@certname)
          !stored.nil? && @time < Time.parse(stored['timestamp'])
        rescue MalformedError
          false # The facts of the command replace what cannot be read.
        end
      end
    end
  end
end
