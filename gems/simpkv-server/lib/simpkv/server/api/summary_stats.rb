# frozen_string_literal: true

require 'simpkv/server/api/pdb_status'

module Simpkv
  module Server
    module Api
      # Numbers about the estate, as PuppetDB has them for its administrators. Those about PostgreSQL are empty lists.
      class SummaryStats
        # What PuppetDB tells of tables, indexes and the database.
        POSTGRESQL = %w[table_usage index_usage database_usage].freeze
        # The parts of a distribution.
        PARTS = 20
        COUNT = %w[function count].freeze
        EDGE = %w[source_type source_title target_type target_title].freeze
        FILES = %w[= type File].freeze
        private_constant :POSTGRESQL, :PARTS, :COUNT, :EDGE, :FILES

        # @yieldparam question [Hash] see {Query::Workers#ask}
        # @yieldreturn [Query::Workers::Answer]
        def initialize(&ask)
          @ask = ask
        end

        # @return [Hash{String => Object}]
        def to_h
          { 'version' => PdbStatus::VERSION, 'node_activity' => node_activity,
            'fact_path_counts_by_depth' => fact_paths, 'num_resources_per_node' => spread('certname'),
            'num_resources_per_file' => spread('file', ['null?', 'file', false]),
            'file_resources_per_catalog' => spread('certname', FILES),
            'file_resources_per_catalog_with_source' =>
              spread('certname', ['and', FILES, ['null?', %w[parameter source], false]]),
            'num_distinct_edges_source_target' => [{ 'count' => edges }],
            **POSTGRESQL.to_h { |name| [name, []] } }
        end

        private

        def node_activity
          { 'inactive' => false, 'active' => true }.map do |state, active|
            rows = ask('nodes', ['extract', [COUNT], ['=', 'node_state', state]]).data
            { 'active' => active, 'count' => rows.first.fetch('count') }
          end
        end

        def fact_paths
          paths = ask('fact-paths', ['extract', ['path']]).data.map { |row| row['path'].length - 1 }
          paths.tally.sort.map { |depth, count| { 'depth' => depth, 'count' => count } }
        end

        # @param field [String] of resources, by which they are counted
        # @return [Array<Hash>] how the numbers are spread: the smallest, the largest, and those between the parts
        def spread(field, condition = nil)
          query = ['extract', [field, COUNT], condition, ['group_by', field]].compact
          counts = ask('resources', query).data.map { |row| row['count'] }.sort
          [{ 'quantiles' => counts.empty? ? nil : Array.new(PARTS + 1) { |part| quantile(counts, part) } }]
        end

        # As percentile_cont of PostgreSQL.
        def quantile(counts, part)
          place = Rational(part * (counts.length - 1), PARTS)
          low, high = [place.floor, place.ceil].map { |index| counts[index] }
          (low + ((high - low) * (place - place.floor))).to_f
        end

        def edges
          answer = ask('edges', ['extract', [*EDGE, COUNT], ['group_by', *EDGE]], 'limit' => 1, 'include_total' => true)
          answer.file.close
          answer.total
        end

        def ask(entity, query, paging = {})
          @ask.call('path' => [entity], 'query' => query, 'paging' => paging)
        end
      end
    end
  end
end
