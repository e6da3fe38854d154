# frozen_string_literal: true

require 'simpkv/query/entities/nodes'

module Simpkv
  module Query
    module Entities
      # Reports and their events.
      module Reports
        # A time as PostgreSQL writes it in JSON: with an offset, and without zeros at the end of the fraction.
        TIME = "rtrim(rtrim(substr(e.timestamp, 1, 23), '0'), '.') || '+00:00'"

        # What an answer has of the details of a report, which the index does not have: see {ReportDetails}.
        #
        # @param kind [String] see {ReportDetails::KINDS}
        # @param number [String] SQL of the number of an event
        # @return [String] SQL
        def self.detail(kind, number = 'NULL')
          "report_detail('#{kind}', n.certname, r.run, r.details, #{number})"
        end

        EVENTS = "(SELECT CASE WHEN count(*) THEN json_group_array(json_object('status', e.status, " \
                 "'timestamp', #{TIME}, 'resource_type', e.resource_type, 'resource_title', e.resource_title, " \
                 "'property', e.property, 'name', e.name, 'corrective_change', " \
                 "json(CASE e.corrective_change WHEN 0 THEN 'false' WHEN 1 THEN 'true' END), " \
                 "'new_value', json(#{detail('new', 'e.number')}), 'old_value', json(#{detail('old', 'e.number')}), " \
                 "'message', e.message, " \
                 "'file', e.file, 'line', e.line, 'containing_class', e.containing_class, " \
                 "'containment_path', json(e.containment_path))) END FROM events e WHERE e.report = r.id)"

        TEXTS = %w[hash status puppet_version configuration_version transaction_uuid catalog_uuid code_id job_id
                   cached_catalog_status type producer environment].freeze

        EVENT_TEXTS = %w[status resource_type resource_title property name message file containing_class].freeze

        EVENT_TIMES = { 'timestamp' => 'e.timestamp', 'run_start_time' => 'r.start_time',
                        'run_end_time' => 'r.end_time', 'report_receive_time' => 'r.receive_time' }.freeze

        LATEST = { 'latest_report?' => 'r.latest' }.freeze

        def self.expanded(name, data, last = name)
          { name => "json_object('href', '/pdb/query/v4/reports/' || r.hash || '/#{last}', 'data', json(#{data}))" }
        end
        private_class_method :expanded

        # The items of a list of a report, below its path, or the whole list.
        def self.items(name, source, types)
          Entity.new(name, "reports r JOIN nodes n ON n.id = r.node #{source}",
                     { string: { 'report' => 'r.hash' }, **types },
                     node: 'r.node', sole: 'item', hidden: ['report'])
        end
        private_class_method :items

        # They have paths, but no name in queries.
        NAMELESS = [items('metrics', 'JOIN metrics m ON m.report = r.id JOIN json_each(m.metrics) j',
                          { element: { 'item' => 'j' } }),
                    items('logs', '', { detail: { 'item' => "coalesce(#{detail('logs')}, 'null')" } })].freeze

        ALL = [
          Entity.new('reports', 'reports r JOIN nodes n ON n.id = r.node',
                     { string: { 'certname' => 'n.certname' }.merge(Nodes.columns('r', TEXTS)),
                       timestamp: Nodes.columns('r', %w[receive_time start_time end_time producer_timestamp]),
                       integer: { 'report_format' => 'r.report_format' },
                       boolean: Nodes.columns('r', %w[noop noop_pending corrective_change]).merge(LATEST),
                       detailed: expanded('resource_events', EVENTS, 'events').merge(expanded('logs', detail('logs'))),
                       expanded: expanded('metrics', '(SELECT metrics FROM metrics WHERE report = r.id)') },
                     node: 'r.node', hidden: LATEST.keys),
          Entity.new('events', 'events e JOIN reports r ON r.id = e.report JOIN nodes n ON n.id = r.node',
                     { string: { 'certname' => 'n.certname', 'report' => 'r.hash', 'environment' => 'r.environment',
                                 'configuration_version' => 'r.configuration_version' }
                       .merge(Nodes.columns('e', EVENT_TEXTS)),
                       timestamp: EVENT_TIMES, integer: { 'line' => 'e.line' },
                       boolean: { 'corrective_change' => 'e.corrective_change' }.merge(LATEST),
                       detail: { 'new_value' => detail('new', 'e.number'),
                                 'old_value' => detail('old', 'e.number') },
                       tags: { 'containment_path' => 'e.containment_path' } },
                     node: 'r.node', hidden: LATEST.keys)
        ].freeze
      end
    end
  end
end
