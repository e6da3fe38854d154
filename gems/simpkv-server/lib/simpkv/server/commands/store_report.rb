# frozen_string_literal: true

module Simpkv
  module Server
    module Commands
      # The command `store report`: the report of a run, and the status of the node.
      class StoreReport
        VERSION = 8
        # The members of a summary that are in the report, by their type.
        TEXTS = %w[status environment puppet_version configuration_version transaction_uuid catalog_uuid code_id job_id
                   cached_catalog_status type].freeze
        FLAGS = %w[noop noop_pending corrective_change].freeze
        # Those that are null in no report.
        REQUIRED = %w[status puppet_version].freeze
        private_constant :TEXTS, :FLAGS, :REQUIRED

        # @return [String]
        attr_reader :certname

        # @param payload [Payload]
        # @raise [Problem]
        def initialize(payload)
          @certname = payload.text('certname')
          events = payload.each('resources') { |resource| events(resource) }.flatten
          logs = payload.each('logs', null: true) { |line| log(line) }
          @report = Estate::WholeReport.new(members(payload), metrics(payload), events, logs)
        end

        # Does nothing if the report is stored: a client that has waited for too long sends it again.
        #
        # @param estate [Estate]
        # @return [Boolean] whether it was stored, or is stored already
        # @raise [Error, ConfigError]
        def save(estate)
          estate.reports.save_once(@certname, @report)
          true
        end

        private

        def members(payload)
          texts = TEXTS.to_h { |name| [name, payload.text(name, null: !REQUIRED.include?(name))] }
          flags = FLAGS.to_h { |name| [name, payload.flag(name, null: !REQUIRED.include?(name))] }
          { 'host' => @certname, **payload.produced, **texts, **flags,
            'report_format' => payload.integer('report_format'),
            'time' => time(payload, 'start_time'), 'end_time' => time(payload, 'end_time') }
        end

        def time(payload, name, null: false)
          Estate::ReportSummary.time(payload.time(name, null: null))
        end

        def log(line)
          texts = %w[level message source file].to_h { |name| [name, line.text(name, null: true)] }
          { **texts, 'tags' => line.texts('tags'), 'time' => time(line, 'time', null: true),
                     'line' => line.integer('line', null: true) }
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
                     'line' => resource.integer('line', null: true),
                     'containment_path' => resource.texts('containment_path') }
          events = resource.each('events') { |each| { **common, **event(each) } }
          return events unless events.empty? && resource.flag('skipped', null: true)

          [{ **common, 'status' => Estate::ReportSummary::SKIPPED, 'time' => time(resource, 'timestamp') }]
        end

        # The message is the one of Puppet's log, which does not show sensitive values. Puppet has replaced those of the
        # values, too.
        def event(payload)
          texts = %w[property name status message].to_h { |name| [name, payload.text(name, null: true)] }
          values = { 'old' => payload.data['old_value'], 'new' => payload.data['new_value'] }.compact
          { **texts, 'time' => time(payload, 'timestamp'), 'values' => (values unless values.empty?),
                     'corrective_change' => payload.flag('corrective_change', null: true) }
        end
      end
    end
  end
end
