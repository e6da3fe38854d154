# frozen_string_literal: true

require 'time'
require 'simpkv/counted'
require 'simpkv/status/node_counts'
require 'simpkv/status/part'
require 'simpkv/status/site_estate'

module Simpkv
  module Status
    module Parts
      # The nodes of the estate: see {NodeCounts}.
      class Nodes < Part
        RANK = 30
        PERIOD = 10
        WORDS = 'nodes'
        TITLE = 'Nodes'
        LIMITS = { failed: Limit.new('N', 'the last run failed on so many nodes (1; none)', 1, nil),
                   overdue: Limit.new('N', 'so many nodes were not seen for a day (1; none)', 1, nil) }.freeze
        METRICS = :reading
        UNKNOWN = 'unknown'
        # Documents of nodes, each of which {NodeCounts} judges as one of the node, too.
        DOCUMENTS = %r{\Aglobals/estate/(?:status|inventory)/[^/]+\z}.freeze
        # Rows of the screen.
        ROWS = 20
        private_constant :UNKNOWN, :DOCUMENTS, :ROWS

        class << self
          def judged(site, backend)
            DOCUMENTS if SiteEstate.new(site).backend == backend
          end

          def alert(part, alerts)
            return if part['configured'] == false

            unreadable(part['unreadable'], alerts)
            unmade(part['without_markers'], alerts)
            number(part['statuses']['failed'], :failed, 'The last run failed on', alerts)
            number(part['overdue'], :overdue, 'Not seen for a day:', alerts)
          end

          def lines(part, _screen)
            return ['none: the site keeps no nodes here'] if part['configured'] == false

            counts = part['statuses'].map { |status, count| "#{count} #{status}" }
            ["#{part['total']} active: #{counts.join(', ')}",
             "#{part['overdue']} not seen for a day, #{part['expired']} expired, " \
             "#{part['never_run']} declared and never run", *unreadable_lines(part['unreadable'])]
          end

          def performance(part, nagios)
            return [] if part['configured'] == false

            [nagios.datum('nodes', part['total']),
             nagios.datum('nodes_failed', part['statuses']['failed'], *most(:failed, nagios)),
             nagios.datum('nodes_overdue', part['overdue'], *most(:overdue, nagios))]
          end

          private

          def unreadable(unreadable, alerts)
            total = unreadable['total']
            return if total.zero?

            names = unreadable.fetch('nodes', []).map { |node| node['name'] }
            alerts.add('critical', 'nodes',
                       "Nodes whose status or inventory cannot be read: #{alerts.some(total, names)}.")
          end

          def unmade(folders, alerts)
            return if folders.empty?

            alerts.add('warning', 'nodes',
                       'An earlier version made the estate. Nobody would notice the loss of ' \
                       "#{alerts.list(folders)}: run 'simpkv init --only estate' once.")
          end

          def number(number, about, text, alerts)
            return unless number.positive?

            alerts.add(alerts.high(number, about), about.to_s, "#{text} #{Counted.of(number, 'node')}.")
          end

          def unreadable_lines(part)
            return [] if part['total'].zero?

            rows = part['nodes'].flat_map do |node|
              node['documents'].map { |path, why| "#{path}: #{why}" }
            end
            more = rows.length > ROWS || part['total'] > part['nodes'].length
            ["#{part['total']} whose status or inventory cannot be read; without its status, a node is in no other " \
             'number:', *rows.first(ROWS), *('and more' if more)]
          end

          # An alert begins at the limit, and a range of Nagios ends before it.
          def most(name, nagios)
            %w[warning critical].map { |level| (limit = nagios.limit(name, level)) && (limit - 1) }
          end
        end

        # @return [Hash] see {NodeCounts.of}
        def read
          NodeCounts.of(estate)
        end

        def optional?
          SiteEstate.new(@site).optional?
        end

        # Adds the metrics of nodes and of inspections.
        def measure(page)
          [measured { nodes(page) }, measured { inspections(page) }].all?
        end

        private

        def estate
          SiteEstate.new(@site).estate(@caller)
        end

        def measured
          yield
        rescue Estate::MissingError
          optional?
        rescue Error, ConfigError
          false
        end

        # @return [Boolean] whether all nodes could be read
        def nodes(page)
          list = Estate::NodeList.new(estate)
          nodes = list.nodes
          nodes.group_by { |node| node['status'] || UNKNOWN }.each { |status, group| add_status(page, status, group) }
          page.gauge(:simpkv_nodes_unseen, 'Nodes without a run for the time of node_ttl.',
                     nodes.count { |node| node['expired'] })
          list.errors.empty?
        end

        def add_status(page, status, nodes)
          page.gauge(:simpkv_nodes, 'Nodes by the status of the last run.', nodes.length, status: status)
          last = nodes.map { |node| node['last_seen'] }.compact.max
          page.gauge(:simpkv_last_run_timestamp_seconds, 'The last run of a node, by its status.',
                     last && Time.iso8601(last).to_i, status: status)
        end

        # @return [Boolean] whether the outcomes of all inspections could be read
        def inspections(page)
          complete = true
          short = ->(_, outcome) { [Estate::Inspections.kind(outcome), outcome[Estate::Inspections::CHANGED_AT]] }
          outcomes = estate.inspections.all(as: short) { complete = false }.values.group_by(&:first)
          Estate::Inspections::KINDS.each_value { |kind| add_outcome(page, kind, outcomes.fetch(kind, [])) }
          complete
        end

        def add_outcome(page, kind, outcomes)
          page.gauge(:simpkv_inspections, 'Nodes by the outcome of their last inspection.', outcomes.length,
                     outcome: kind)
          last = outcomes.map(&:last).compact.max
          page.gauge(:simpkv_inspection_changed_timestamp_seconds, 'When a node last got this outcome anew.',
                     last && Time.iso8601(last).to_i, outcome: kind)
        end
      end
    end
  end
end
