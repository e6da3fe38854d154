# frozen_string_literal: true

require 'simpkv/cli/output'

module Simpkv
  module Cli
    # Reports of a node, as a table.
    module NodeReports
      # @param reports [Array<Hash>] of {Estate::Reports}, newest first
      # @return [Array<String>]
      def self.table(reports)
        return [] if reports.empty?

        Output.table([%w[time status changes failures environment], *reports.map { |report| row(report) }])
      end

      def self.row(report)
        changes, *failures = (report['resources'] || {}).values_at('changed', 'failed', 'failed_to_restart').map(&:to_i)
        status = [report['status'], ('noop' if report['noop'])].compact.join(', ')
        [time(report), status, changes, failures.sum, report['environment']].map { |cell| cell || '-' }
      end

      # @return [String, nil] in whole seconds
      def self.time(report)
        (report['time'] || report['received'])&.sub(/\.\d+/, '')
      end
      private_class_method :row, :time
    end
  end
end
