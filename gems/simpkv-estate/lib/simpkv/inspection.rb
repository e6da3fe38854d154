# frozen_string_literal: true

require 'simpkv/estate'
require 'simpkv/inspection/action_files'
require 'simpkv/inspection/engine_values'
require 'simpkv/inspection/explanation'
require 'simpkv/inspection/given_facts'
require 'simpkv/inspection/inspector'
require 'simpkv/inspection/rules'
require 'simpkv/inspection/stored_rules'

module Simpkv
  # Inspection rules (docs/inspection-rules.md), and the inspections of nodes with them.
  module Inspection
    class << self
      # What reads rules: a text of JSON becomes an object like {Native::Rules}. The service has its workers do it.
      #
      # @return [#call]
      attr_writer :engine

      # @return [#call]
      def engine
        @engine ||= ->(json) { Native::Rules.new(json) }
      end
    end
  end
end
