# frozen_string_literal: true

require 'simpkv/estate/puppetdb_data'

module Simpkv
  module Server
    module Commands
      # The command `replace facts`: the facts of a node, and its packages.
      class ReplaceFacts
        VERSION = 5

        # @return [String]
        attr_reader :certname

        # @param payload [Payload]
        # @raise [Problem]
        def initialize(payload)
          @certname = payload.text('certname')
          @environment = payload.text('environment', null: true)
          @produced = payload.produced
          @time = payload.time('producer_timestamp')
          @values = payload.object('values')
          @packages = payload.list('package_inventory', 'a list of [NAME, VERSION, PROVIDER]') do |package|
            Estate::PuppetDBData.package?(package)
          end
        end

        # Does nothing if newer facts are stored.
        #
        # @param estate [Estate]
        # @return [Boolean] whether it did something
        # @raise [Error, ConfigError]
        def save(estate)
          facts = Estate::PuppetDBData.with_packages(Estate::PuppetDBData.facts(@values), @packages)
          estate.facts.save(@certname, facts,
                            trusted: Estate::PuppetDBData.trusted(@values), timestamp: @time.iso8601,
                            produced: @produced, environment: @environment, in_order: true)
        end
      end
    end
  end
end
