# frozen_string_literal: true

require 'simpkv/server/console/nodes/node_table'
require 'simpkv/server/console/resource_name'

module Simpkv
  module Server
    module Console
      # A report of a node, as pages show it.
      class ReportView
        # What the status of an event means.
        EVENTS = { 'success' => 'changed', 'failure' => 'failed', 'noop' => 'noop', 'audit' => 'audited',
                   'skipped' => 'skipped' }.freeze
        # The words for levels of a log that a badge marks.
        LEVELS = { 'err' => 'failed', 'alert' => 'failed', 'crit' => 'failed', 'emerg' => 'failed' }.freeze
        CATALOGS = { 'on_failure' => 'It used the catalog of an earlier run, because it got no new one.',
                     'explicitly_requested' => 'It used the catalog of an earlier run, as configured.' }.freeze
        private_constant :CATALOGS

        # - `type`, `title`: of its resource; nil if it names none
        # - `status`: in words, see {EVENTS}
        # - `place`: file and line
        # - `from`, `to`: old and new value, as text; nil for none
        # - `path`: the resources that contain it
        Event = Struct.new(:resource, :type, :title, :property, :status, :message, :time, :place, :corrective, :from,
                           :to, :path) do
          # @return [Boolean]
          def failed?
            status == EVENTS['failure']
          end
        end
        # A line of the log.
        Line = Struct.new(:level, :message, :source, :time, :place)

        # @param report [Hash] of the API
        def initialize(report)
          @report = report
        end

        # @return [String] its name in paths
        def id
          @report.fetch('hash')
        end

        # @return [String, nil]
        def time
          @report['time'] || @report['received']
        end

        # @return [String, nil]
        def status
          NodeTable.status(@report['status'], @report['noop'])
        end

        # @return [Array<String>] short words beside the status
        def notes
          { 'corrective changes' => 'corrective_change', 'would change something' => 'noop_pending' }
            .select { |_, member| @report[member] }.keys
        end

        # @return [Hash{String => Object}] what a table of reports has
        def row
          { 'time' => time, 'status' => status, 'notes' => notes.join(', '), 'environment' => @report['environment'],
            'changed' => changed, 'failed' => failed, 'seconds' => seconds }
        end

        # @return [Array<String>] sentences about the run
        def sentences
          texts = { 'noop' => 'The run was in noop mode: it changed nothing, and its events say what it would change.',
                    'noop_pending' => 'Resources in noop mode differ from the catalog: they would be changed.',
                    'corrective_change' => 'Some changes were corrective: the resource had been as the catalog says ' \
                                           'in an earlier run, somebody changed it since, and this run put it back.' }
          [*texts.select { |member, _| @report[member] }.values, CATALOGS[@report['cached_catalog_status']]].compact
        end

        # @return [Integer]
        def changed
          resources['changed'].to_i
        end

        # @return [Integer]
        def failed
          resources.values_at('failed', 'failed_to_restart').sum(&:to_i)
        end

        # @return [Numeric, nil] of the whole run
        def seconds
          times['total']
        end

        # @return [Hash{String => Object}] texts and numbers about the run, by what they are
        def members
          { 'Status' => status, 'Corrective changes' => yes(@report['corrective_change']),
            'Changes pending (noop)' => yes(@report['noop_pending']), 'Environment' => @report['environment'],
            'Version of the catalog' => @report['configuration_version'], 'Cached catalog' => cached,
            'Version of Puppet' => @report['puppet_version'], 'Seconds' => seconds }
        end

        # @return [Hash{String => Numeric}] numbers of resources, by what happened to them
        def resources
          numbers('resources')
        end

        # @return [Hash{String => Numeric}] seconds, by what the run did
        def times
          numbers('times')
        end

        # @return [Integer] the number of events that are not stored
        def left_out
          @report['events_left_out'].to_i
        end

        # @return [Array<Event>]
        def events
          @events ||= (@report['events'] || []).grep(Hash).map { |event| event(event) }
        end

        # @return [Array<Event>] those of resources that have failed
        def failures
          events.select(&:failed?)
        end

        # @return [Array<Line>] those of the log; none for a report without details
        def log
          (@report['logs'] || []).grep(Hash).map do |line|
            level, message, source = line.values_at('level', 'message', 'source').map(&:to_s)
            Line.new(LEVELS.fetch(level, level), message, source, line['time']&.to_s, place(line))
          end
        end

        # @return [Array<Line>] those of {#log} that are errors
        def errors
          log.select { |line| line.level == LEVELS['err'] }
        end

        private

        def numbers(name)
          @report[name].is_a?(Hash) ? @report[name].select { |_, number| number.is_a?(Numeric) } : {}
        end

        def yes(value)
          value ? 'yes' : 'no'
        end

        def cached
          @report['cached_catalog_status']&.to_s&.tr('_', ' ')
        end

        def event(event)
          type, title = ResourceName.parts(event['resource'].to_s)
          property, message = event.values_at('property', 'message').map(&:to_s)
          status = EVENTS.fetch(event['status'], event['status']).to_s
          Event.new(event['resource'].to_s, type, title, property, status, message, event['time']&.to_s, place(event),
                    event['corrective_change'] == true, *values(event), Array(event['containment_path']).join(' / '))
        end

        def place(part)
          part.values_at('file', 'line').compact.join(':')
        end

        def values(event)
          event.values_at('old_value', 'new_value').map do |value|
            value.nil? || value.is_a?(String) ? value : Native.generate(value)
          end
        end
      end
    end
  end
end
