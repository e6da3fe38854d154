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

        PACKAGE = %w[package_name provider version].freeze

        # @return [Hash{String => String}] the SQL of columns without a value
        def self.none(names)
          names.to_h { |name| [name, 'v.value'] }
        end
        private_class_method :none

        ALL = [
          Entity.new('nodes', 'nodes n', { string: columns('n', TEXTS), timestamp: columns('n', TIMES),
                                           boolean: columns('n', BOOLEANS) }, node: 'n.id', active: true),
          Entity.new('environments', "#{names('environment', %w[factsets catalogs reports])} v",
                     { string: { 'name' => 'v.name' } }),
          Entity.new('producers', "#{names('producer', %w[factsets catalogs reports])} v",
                     { string: { 'name' => 'v.name' } }),
          # The estate has no packages.
          Entity.new('packages', '(SELECT NULL AS value WHERE 0) v', { string: none(PACKAGE) }),
          Entity.new('package_inventory', '(SELECT NULL AS value WHERE 0) v', { string: none(['certname', *PACKAGE]) })
        ].freeze
      end
    end
  end
end
