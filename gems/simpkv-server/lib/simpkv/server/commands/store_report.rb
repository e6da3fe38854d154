# frozen_string_literal: true

module Simpkv
  module Server
    module Commands
      # The command `store report`: the summary of a run, and the status of the node. Logs, and the values of events,
      # are not stored.
      class StoreReport
        VERSION = 8
        # The members of a summary that are in the report, by their type.
        TEXTS = %w[status environment puppet_version configuration_version transaction_uuid
                   cached_catalog_status].freeze
        FLAGS = %w[noop noop_pending corrective_change].freeze
        # Those that are null in no report.
        REQUIRED = %w[status puppet_version].freeze
        private_constant :TEXTS, :FLAGS, :REQUIRED

        # @param payload [Payload]
        # @raise [Problem]
        def initialize(payload)
          @certname = payload.text('certname')
          payload.time('producer_timestamp')
          payload.time('end_time')
          events = payload.each('resources') { |resource| events(resource) }.flatten
          @summary = Estate::ReportSummary.of(members(payload), metrics(payload), events)
        end

        # Does nothing if the report is stored: a client that has waited for too long sends it again.
        #
        # @param estate [Estate]
        # @return [void]
        # @raise [Error, ConfigError]
        def save(estate)
          estate.reports.save_once(@certname, @summary)
        end

        private

        def members(payload)
          texts = TEXTS.to_h { |name| [name, payload.text(name, null: !REQUIRED.include?(name))] }
          flags = FLAGS.to_h { |name| [name, payload.flag(name, null: !REQUIRED.include?(name))] }
          { 'host' => @certname, **texts, **flags, 'report_format' => payload.integer('report_format'),
            'time' => payload.time('start_time').iso8601 }
        end

        def metrics(payload)
          rows = payload.each('metrics', null: true) do |row|
            [row.text('category'), row.text('name'), row.number('value')]
          end
          rows.group_by(&:first).transform_values { |list| list.to_h { |_, name, value| [name, value] } }
        end

        def events(resource)
          reference = "#{resource.text('resource_type')}[#{resource.text('resource_title')}]"
          common = { 'resource' => reference, 'file' => resource.text('file', null: true),
                     'line' => resource.integer('line', null: true) }
          resource.each('events') { |each| { **common, **event(each) } }
        end

        # The message is the one of Puppet's log, which does not show sensitive values. Other members may.
        def event(payload)
          { 'property' => payload.text('property', null: true), 'status' => payload.text('status', null: true),
            'time' => payload.time('timestamp').iso8601, 'message' => payload.text('message', null: true),
            'corrective_change' => payload.flag('corrective_change', null: true) }
        end
      end
    end
  end
end
