# frozen_string_literal: true

require 'simpkv/query/entity'

module Simpkv
  module Query
    module Entities
      # Nodes, and the names that documents of nodes have in common.
      module Nodes
        TIMES = %w[catalog_timestamp facts_timestamp report_timestamp deactivated expired].freeze

        TEXTS = %w[certname catalog_environment facts_environment report_environment cached_catalog_status
                   latest_report_hash latest_report_status latest_report_job_id].freeze

        BOOLEANS = %w[latest_report_noop latest_report_noop_pending latest_report_corrective_change].freeze

        # @return [Hash{String => String}] the SQL of columns by their names
        def self.columns(row, names)
          names.to_h { |name| [name, "#{row}.#{name}"] }
        end

        # @return [String] SQL of the distinct values of a column in some tables
        def self.names(column, tables)
          "(#{tables.map do |table|
            "SELECT #{column} AS name FROM #{table} WHERE #{column} IS NOT NULL"
          end.join(' UNION ')})"
        end

        # The console's last time of a node, which PuppetDB lacks.
        SEEN = { 'last_seen' => 'n.seen' }.freeze

        PACKAGE = %w[package_name version provider].freeze

        # An entity of documents that the estate does not have.
        def self.none(name, types)
          nulls = types.values.flatten.map { |column| "NULL AS #{column}" }.join(', ')
          Entity.new(name, "(SELECT #{nulls} WHERE 0) v", types.transform_values { |names| columns('v', names) })
        end
        private_class_method :none

        ALL = [
          Entity.new('nodes', 'nodes n', { string: columns('n', TEXTS), timestamp: columns('n', TIMES).merge(SEEN),
                                           boolean: columns('n', BOOLEANS) },
                     node: 'n.id', active: true, extra: SEEN.keys),
          Entity.new('environments', "#{names('environment', %w[factsets catalogs reports])} v",
                     { string: { 'name' => 'v.name' } }),
          Entity.new('producers', "#{names('producer', %w[factsets catalogs reports])} v",
                     { string: { 'name' => 'v.name' } }),
          Entity.new('packages', 'packages p', { string: columns('p', PACKAGE) },
                     where: 'EXISTS (SELECT 1 FROM node_packages WHERE package = p.id)'),
          Entity.new('package_inventory',
                     'node_packages i JOIN packages p ON p.id = i.package JOIN nodes n ON n.id = i.node',
                     { string: { 'certname' => 'n.certname', **columns('p', PACKAGE) } }, node: 'i.node', active: true),
          none('catalog_inputs', { string: %w[certname catalog_uuid], timestamp: %w[producer_timestamp],
                                   value: %w[inputs] }),
          none('catalog_input_contents', { string: %w[certname catalog_uuid name type],
                                           timestamp: %w[producer_timestamp] })
        ].freeze
      end
    end
  end
end
