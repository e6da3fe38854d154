# frozen_string_literal: true

require 'simpkv/termini/plain_data'

module Simpkv
  module Termini
    # A stored report, in the form that Puppet reads a report from. Of the resources it has those with events, and those
    # that were skipped or could not be restarted. Without details, it has no log.
    class StoredReport
      # The members of a status that are stored with its events, or follow from these.
      OF_EVENTS = %w[title file line resource resource_type containment_path events].freeze
      # The members of an event that are values, and what these are called in {Estate::WholeReport}.
      VALUES = { 'previous_value' => 'old', 'desired_value' => 'new', 'historical_value' => 'historical',
                 'audited' => 'audited', 'redacted' => 'redacted' }.freeze
      # What stands for values that Puppet hides.
      HIDDEN = { 'old' => Estate::Secrets::REDACTED, 'new' => Estate::Secrets::REDACTED, 'redacted' => true }.freeze
      # The members of a status that has none of its own.
      USUAL = { 'tags' => [], 'skipped' => false, 'failed_to_restart' => false, 'out_of_sync' => true }.freeze
      private_constant :OF_EVENTS, :VALUES, :HIDDEN, :USUAL

      class << self
        # @param statuses [Array<Puppet::Resource::Status>]
        # @return [Hash{String => Hash}] what {Estate::WholeReport} has of those that are stored
        def statuses(statuses)
          statuses = statuses.select { |status| status.failed_to_restart || event?(status) }
          statuses.to_h { |status| [PlainData.of(status.resource), PlainData.of(members(status)).compact] }
        end

        # @param event [Puppet::Transaction::Event]
        # @return [Hash{String => Object}, nil] what {Estate::WholeReport} has of its values; nil for none
        def values(event)
          return HIDDEN if event.redacted

          values = VALUES.to_h { |member, name| [name, PlainData.of(event.public_send(member))] }
          values = values.reject { |_, value| value.nil? || value == false }
          values unless values.empty?
        end

        private

        # @return [Boolean] whether there is an event of the resource, or that it was skipped
        def event?(status)
          status.events.any? || status.skipped
        end

        def members(status)
          members = status.to_data_hash
          event?(status) ? members.reject { |name, _| OF_EVENTS.include?(name) } : members
        end
      end

      # @param report [Hash] see {Estate::ReportSummary}, with details: see {Estate::Reports#with_details}
      def initialize(report)
        @report = report
      end

      # @return [Hash] for Puppet::Transaction::Report.from_data_hash
      def to_data_hash
        @report.merge('logs' => @report['logs'] || [], 'metrics' => metrics, 'resource_statuses' => resource_statuses)
      end

      private

      def metrics
        { 'resources' => @report['resources'], 'events' => @report['event_counts'], 'time' => @report['times'],
          'changes' => { 'total' => @report['changes'] }.compact }.to_h do |name, values|
          [name, metric(name, values)]
        end
      end

      def metric(name, values)
        metric = Puppet::Util::Metric.new(name)
        values.each { |key, value| metric.newvalue(key, value) }
        metric.to_data_hash
      end

      def resource_statuses
        statuses = @report['statuses'] || {}
        with_events = events.group_by { |event| event['resource'] }.to_h do |resource, events|
          [resource, status(resource, events).merge(statuses[resource] || {})]
        end
        (statuses.keys | with_events.keys).to_h do |resource|
          [resource, with_events[resource] || statuses[resource]]
        end
      end

      # @return [Array<Hash>] the events with their values
      def events
        values = @report['values'] || []
        @report['events'].each_with_index.map { |event, index| event.merge(of_values(values[index] || {})) }
      end

      def of_values(values)
        VALUES.transform_values { |name| values[name] }.merge('audited' => values['audited'] == true)
      end

      def status(resource, events)
        type, title = resource.match(/\A(.+?)\[(.*)\]\z/m)&.captures
        own = events.reject { |event| event['status'] == Estate::ReportSummary::SKIPPED }
        changes, failures = %w[success failure].map { |kind| own.count { |event| event['status'] == kind } }
        USUAL.merge('resource' => resource, 'resource_type' => type, 'title' => title,
                    'containment_path' => events.first['containment_path'] || [],
                    'file' => events.first['file'], 'line' => events.first['line'], 'time' => events.first['time'],
                    'changed' => changes.positive?, 'failed' => failures.positive?, 'change_count' => changes,
                    'out_of_sync_count' => own.length, 'events' => own,
                    'corrective_change' => own.any? { |event| event['corrective_change'] })
      end
    end
    private_constant :StoredReport
  end
end
