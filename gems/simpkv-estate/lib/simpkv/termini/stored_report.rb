# frozen_string_literal: true

module Simpkv
  module Termini
    # A stored summary of a report, in the form that Puppet reads a report from. It has no logs, and of the resources
    # those with events only.
    class StoredReport
      # @param summary [Hash] see {Estate::ReportSummary}
      def initialize(summary)
        @summary = summary
      end

      # @return [Hash] for Puppet::Transaction::Report.from_data_hash
      def to_data_hash
        @summary.merge('logs' => [], 'metrics' => metrics, 'resource_statuses' => resource_statuses)
      end

      private

      def metrics
        { 'resources' => @summary['resources'], 'events' => @summary['event_counts'], 'time' => @summary['times'],
          'changes' => { 'total' => @summary['changes'] } }.to_h do |name, values|
          [name, metric(name, values)]
        end
      end

      def metric(name, values)
        metric = Puppet::Util::Metric.new(name)
        values.each { |key, value| metric.newvalue(key, value) }
        metric.to_data_hash
      end

      def resource_statuses
        @summary['events'].group_by { |event| event['resource'] }.to_h do |resource, events|
          [resource, status(resource, events)]
        end
      end

      def status(resource, events)
        type, title = resource.match(/\A(.+?)\[(.*)\]\z/m)&.captures
        changes, failures = %w[success failure].map { |kind| events.count { |event| event['status'] == kind } }
        { 'resource' => resource, 'resource_type' => type, 'title' => title, 'tags' => [], 'containment_path' => [],
          'file' => events.first['file'], 'line' => events.first['line'], 'time' => events.first['time'],
          'changed' => changes.positive?, 'failed' => failures.positive?, 'skipped' => false,
          'failed_to_restart' => false, 'change_count' => changes, 'out_of_sync' => true,
          'out_of_sync_count' => events.length, 'events' => events,
          'corrective_change' => events.any? { |event| event['corrective_change'] } }
      end
    end
    private_constant :StoredReport
  end
end
