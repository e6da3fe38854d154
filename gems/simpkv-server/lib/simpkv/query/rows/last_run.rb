# frozen_string_literal: true

require 'simpkv/estate'

module Simpkv
  module Query
    class Rows
      # What the inventory and the status say about the last run of a node. The run has sent its facts and its exports,
      # and the estate has written what has changed: so its time is also the one of those that have not.
      class LastRun
        # @return [Hash] the record of the inventory; an empty one for none
        attr_reader :inventory

        # @return [Hash] an empty one for none
        attr_reader :status

        # @return [String, nil] the last time at which the node was seen
        attr_reader :time

        # @param documents [Documents]
        # @raise [MalformedError]
        def initialize(documents)
          @inventory = Form.hash(documents.inventory, "the inventory record of '#{documents.certname}'")
          @status = Form.hash(documents.status, "the status of '#{documents.certname}'")
          @time = Times.text(Estate::Statuses.last_seen(status, inventory))
        end

        # @return [String, nil]
        def environment
          inventory['environment'] || status['environment']
        end

        # @param facts [Hash] the document
        # @return [String, nil]
        def facts_time(facts)
          [time, Times.text(facts['timestamp'])].compact.max
        end
      end
      private_constant :LastRun
    end
  end
end
