# frozen_string_literal: true

require 'simpkv/status/alerts'

module Simpkv
  module Server
    module Console
      # What needs attention, as {Status::Alerts} tells it, with links to the pages that have more.
      class Alerts
        # By what an alert is about.
        PATHS = { 'nodes' => '/#nodes', 'failed' => '/nodes?status=failed', 'overdue' => '/nodes?state=overdue',
                  'servers' => '/#servers', 'spool' => '/#spool',
                  'certificates' => '/#servers', 'service' => '/#service', 'compilers' => '/#compilers',
                  'expiring_keys' => '/#keys', 'access' => '/access', 'doctor' => '/#doctor' }.freeze
        # A failed run needs attention now. A certificate does when it has expired.
        LIMITS = { failed_critical: 1, certificate_critical: 0 }.freeze
        private_constant :PATHS, :LIMITS

        # - `urgent`: whether something is broken now
        # - `text`: a sentence
        # - `path`: of the page with more; nil for none
        Alert = Struct.new(:urgent, :text, :path)

        # @return [Array<Alert>]
        attr_reader :all

        # @param state [Hash] of `/v1/status`
        def initialize(state)
          @alerts = Status::Alerts.new(state, LIMITS)
          found = @alerts.all.map { |each| Alert.new(each.level != 'warning', each.text, PATHS[each.about]) }
          @all = found.partition(&:urgent).flatten
        end

        # @return [Array<String>] see {Status::Alerts#pending}
        def pending
          @alerts.pending
        end

        # @return [Array<String>] see {Status::Alerts#unknown}
        def unknown
          @alerts.unknown
        end
      end
    end
  end
end
