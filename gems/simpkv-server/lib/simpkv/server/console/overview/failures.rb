# frozen_string_literal: true

require 'simpkv/server/console/failed_runs'
require 'simpkv/server/console/nodes/node_table'

module Simpkv
  module Server
    module Console
      # What is broken now: why the last runs of nodes have failed, from the index. The same failure on many nodes is
      # one {Failure}. The number of queries does not depend on the number of nodes.
      class Failures
        # Nodes and events that are looked at, logs of runs that are read, failures that are listed, and nodes that each
        # one names.
        ROWS = 5000
        LOGS = 200
        LISTED = 20
        NAMED = 3
        # More failures than these of the same nodes are one, so that a node cannot fill the page.
        SEVERAL = 3
        COLUMNS = %w[resource_type resource_title property message file line].freeze
        FAILED = ['and', %w[= node_state active], %w[= latest_report_status failed]].freeze
        EVENTS = ['extract', ['certname', 'report', *COLUMNS],
                  ['and', %w[= status failure],
                   ['in', 'report', ['extract', 'latest_report_hash', ['select_nodes', FAILED]]]]].freeze
        # Levels of a log that tell why a run has failed.
        LEVELS = %w[err alert crit emerg].freeze
        BY_NAME = [%w[certname asc]].freeze
        private_constant :ROWS, :LOGS, :LISTED, :SEVERAL, :COLUMNS, :FAILED, :EVENTS, :LEVELS, :BY_NAME

        # - `resource`, `property`: that has failed; nil if no resource has, as of a run without a catalog
        # - `message`, `file`, `line`: nil if they are not known
        # - `nodes`: by name, the hash of the report
        # - `others`: the number of other failures of the same nodes, nil for none
        Failure = Struct.new(:resource, :property, :message, :file, :line, :nodes, :others) do
          # @return [Integer] the number of failures that this one stands for
          def count
            1 + others.to_i
          end

          # @return [String] of the manifest
          def place
            [file, line].compact.join(':')
          end

          # @return [Hash{Symbol => String}] what selects its nodes: see {NodeTable}
          def filter
            { failed: resource, message: (message.to_s[0, NodeTable::MESSAGE] unless message.to_s.empty?) }.compact
          end

          # @return [Array<String>] the nodes that a page names
          def named
            nodes.keys.first(NAMED)
          end
        end

        # @param event [Hash] of the index
        # @return [String] its resource, as reports name it
        def self.resource(event)
          "#{event['resource_type']}[#{event['resource_title']}]"
        end

        # @return [Array<Failure>] those on the most nodes first
        attr_reader :listed

        # @return [Hash{String => FailedRuns}] of the named nodes, by name
        attr_reader :runs

        # @return [Integer] the number of nodes whose last run has failed
        attr_reader :total

        # @param api [Api]
        # @raise [Problem, Error] the index cannot be asked
        def initialize(api)
          @api = api
          @nodes = failed_nodes
          @all = @nodes.empty? ? [] : of_resources + of_whole_runs
          @listed = merged.sort_by { |failure| [-failure.nodes.length, failure.resource.to_s] }.first(LISTED)
          @runs = runs_of(@listed.flat_map(&:named).uniq)
        end

        # @return [Integer] the number of failures that are not listed
        def more
          @all.length - @listed.sum(&:count)
        end

        # @return [Boolean] whether there are more failures than were looked at, so that numbers of nodes are too small
        def cut?
          total > @nodes.length || @cut
        end

        private

        # @return [Hash{String => String}] the hash of the last report, by the name of the node
        def failed_nodes
          found = @api.find('nodes', ['extract', %w[certname latest_report_hash], FAILED], order: BY_NAME, limit: ROWS)
          @total = found.total
          found.rows.to_h { |row| row.values_at('certname', 'latest_report_hash') }
        end

        # @return [Array<Failure>] all, of which several on the same nodes are one
        def merged
          @all.group_by { |failure| failure.nodes.keys.sort }.each_value.flat_map do |same|
            next same unless same.length > SEVERAL

            same.first.dup.tap { |failure| failure.others = same.length - 1 }
          end
        end

        def of_resources
          found = @api.find('events', EVENTS, order: BY_NAME, limit: ROWS)
          @cut = found.total > found.rows.length
          @explained = found.rows.to_h { |row| [row['certname'], true] }
          found.rows.group_by { |row| row.slice(*COLUMNS).merge('message' => general_message(row)) }
               .map { |_, rows| failure(rows) }
        end

        def general_message(row)
          general(*row.values_at('message', 'certname'))
        end

        # @return [String] a message that is the same on each node
        def general(text, certname)
          text.to_s.gsub(certname, NodeTable::NODE)
        end

        def failure(rows)
          row = rows.first
          nodes = rows.to_h { |each| each.values_at('certname', 'report') }
          message = nodes.length > 1 ? general_message(row) : row['message']
          Failure.new(self.class.resource(row), row['property'], message, *row.values_at('file', 'line'), nodes)
        end

        # @return [Array<Failure>] those of runs in which no resource has failed
        def of_whole_runs
          return [] if @cut

          others = @nodes.reject { |certname, _| @explained.key?(certname) }
          reasons = reasons(others)
          others.group_by { |certname, _| general(reasons.dig(certname, 0), certname) }
                .map { |_, nodes| whole_run(nodes.to_h, reasons) }
        end

        # Reads the logs of so many nodes, which the caller may not see: then there is no reason. Such logs are short.
        #
        # @return [Hash{String => Array(String, String, Integer)}] message, file and line, by the name of the node
        def reasons(nodes)
          hashes = nodes.values.compact.first(LOGS)
          return {} if hashes.empty?

          found = @api.find('reports', ['extract', %w[certname logs], ['in', 'hash', ['array', hashes]]])
          found.rows.to_h { |row| [row['certname'], error(row['logs'])] }.compact
        end

        def error(logs)
          line = logs.to_h['data'].to_a.find { |each| LEVELS.include?(each['level']) }
          line&.values_at('message', 'file', 'line')
        end

        def whole_run(nodes, reasons)
          message, file, line = reasons[nodes.keys.first]
          message = general(message, nodes.keys.first) if message && nodes.length > 1
          Failure.new(nil, nil, message, file, line, nodes)
        end

        def runs_of(names)
          return {} if names.empty?

          query = ['extract', %w[certname status producer_timestamp], ['in', 'certname', ['array', names]]]
          rows = @api.find('reports', query, order: [%w[producer_timestamp desc]]).rows
          rows.group_by { |row| row['certname'] }.transform_values do |reports|
            FailedRuns.of(reports.map { |row| row.values_at('status', 'producer_timestamp') })
          end
        end
      end
    end
  end
end
