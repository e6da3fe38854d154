# frozen_string_literal: true

require 'simpkv/query/fragment'
require 'simpkv/query/timestamp'

module Simpkv
  module Query
    class Compiler
      # The parameters of a request that only events have, and counts of them.
      class Options
        DISTINCT = %w[distinct_resources distinct_start_time distinct_end_time].freeze

        COUNTS = %w[summarize_by count_by counts_filter].freeze

        # Which parameters an entity takes.
        KNOWN = { 'events' => DISTINCT, 'event_counts' => DISTINCT + COUNTS,
                  'aggregate_event_counts' => DISTINCT + COUNTS }.freeze

        # The newest events of a time, one for each property of a resource of a node.
        NEWEST = 'e.rowid IN (SELECT id FROM (SELECT d.rowid AS id, row_number() OVER (PARTITION BY r.node, ' \
                 'd.resource_type, d.resource_title, d.property ORDER BY d.timestamp DESC) AS place ' \
                 'FROM events d JOIN reports r ON r.id = d.report WHERE d.timestamp BETWEEN ? AND ?) WHERE place = 1)'

        # @param parameters [Hash{String => Object}] texts, or parsed JSON
        # @param entity [String]
        # @raise [InvalidError]
        def initialize(parameters, entity)
          unknown = (parameters.keys - KNOWN.fetch(entity, [])).first
          raise InvalidError, "Unsupported query parameter '#{unknown}'" if unknown

          @parameters = parameters
        end

        # @return [Fragment, nil] a condition on events
        # @raise [InvalidError]
        def distinct
          given = DISTINCT & @parameters.keys
          return if given.empty?

          unless given == DISTINCT
            raise InvalidError, "'distinct_resources' query parameter requires accompanying parameters " \
                                "'distinct_start_time' and 'distinct_end_time'"
          end
          Fragment.of(NEWEST, *times) if @parameters['distinct_resources'].to_s == 'true'
        end

        # @return [String] whose events are counted together
        def summarize_by
          value = @parameters['summarize_by']
          raise InvalidError, "Missing required query parameter 'summarize_by'" if value.nil?

          value.to_s
        end

        # @return [Boolean] whether to count nodes, and not events
        def nodes?
          value = @parameters.fetch('count_by', 'resource')
          return value == 'certname' if %w[certname resource].include?(value)

          raise InvalidError, "Unsupported value for 'count_by': '#{value}'"
        end

        # @return [Array, nil]
        def counts_filter
          value = @parameters['counts_filter']
          value.is_a?(String) ? JSON.parse(value) : value
        rescue JSON::ParserError
          raise InvalidError, 'The query parameter counts_filter is no JSON'
        end

        private

        def times
          bounds = @parameters.values_at('distinct_start_time', 'distinct_end_time')
          times = bounds.map { |bound| Timestamp.normalize(bound.to_s) }
          return times if times.all?

          raise InvalidError, "query parameters 'distinct_start_time' and 'distinct_end_time' must be valid datetime " \
                              "strings: #{bounds.join(' ')}"
        end
      end
    end
  end
end
