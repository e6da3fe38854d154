# frozen_string_literal: true

require 'rack'
require 'simpkv/server/console/chart'
require 'simpkv/server/console/nodes/node_table'

module Simpkv
  module Server
    module Console
      # What runs have changed within a day, from the index: corrective changes, which put back what somebody has
      # changed on the machine, apart from the runs that changed what manifests intend; and the nodes that have not
      # reported.
      class Changes
        DAY = 86_400
        # Changes and nodes that are named.
        NAMED = 5
        # Types in the chart.
        BARS = 15
        FIELDS = %w[certname report resource_type resource_title message timestamp].freeze
        COUNT = %w[function count].freeze
        CORRECTIVE = %w[= corrective_change].push(true).freeze
        private_constant :DAY, :NAMED, :BARS, :FIELDS, :COUNT, :CORRECTIVE

        # - `nodes`: rows of the table of nodes, the one that was seen last first
        # - `total`: of all such nodes
        Silent = Struct.new(:nodes, :total)

        # @param api [Api]
        def initialize(api)
          @api = api
          @since = (Time.now.utc - DAY).iso8601
        end

        # Asks for all that the first page shows.
        #
        # @return [Changes] itself
        def read
          corrected
          changed_runs
          silent
          self
        end

        # @return [Api::Found] the newest corrective changes, as events. Their reports say that they have some, so that
        #   few reports are looked at
        # @raise [Problem, Error] the index cannot be asked, as for all methods here
        def corrected
          @corrected ||= @api.find('events', ['extract', FIELDS, events(CORRECTIVE, reports: CORRECTIVE)],
                                   order: [%w[timestamp desc], %w[certname asc]], limit: NAMED)
        end

        # @return [Integer] the number of runs that changed something
        def changed_runs
          changed = ['and', ['>', 'producer_timestamp', @since], %w[= status changed]]
          @changed_runs ||= @api.find('reports', ['extract', [COUNT], changed]).rows.first['count']
        end

        # @return [Silent] the nodes that were not seen for a day
        def silent
          @silent ||= begin
            table = NodeTable.new(@api, 'state' => 'overdue', 'sort' => 'seen', 'order' => 'desc')
            found = table.indexed(0, NAMED)
            Silent.new(found.rows, found.total)
          end
        end

        # @return [Array<Array(String, Integer, Integer)>] type of the resource, and its numbers of changes and of
        #   corrective ones, most first. This looks at all events of the day
        def types
          @types ||= begin
            rows = @api.find('events', ['extract', [COUNT, 'resource_type', 'corrective_change'], events,
                                        %w[group_by resource_type corrective_change]]).rows
            found = rows.group_by { |row| row['resource_type'] }.map { |type, some| [type, *numbers(some)] }
            found.sort_by { |type, count| [-count, type.to_s] }
          end
        end

        # @return [String] HTML: {#types} as bars
        def chart
          bars = types.first(BARS).map { |type, count| [type, count, address(['=', 'resource_type', type])] }
          Chart.bars('Changes within a day by type of resource', bars)
        end

        # @param condition [Array] that changes meet
        # @return [String] the address of the answer with all of them
        def address(condition = CORRECTIVE)
          query = ['from', 'events', ['extract', FIELDS, events(condition)], ['order_by', [%w[timestamp desc]]]]
          "/query?#{Rack::Utils.build_query('query' => Native.generate(query))}"
        end

        private

        # @return [Array(Integer, Integer)] of all rows, and of the corrective ones
        def numbers(rows)
          [rows, rows.select { |row| row['corrective_change'] }].map { |some| some.sum { |row| row['count'] } }
        end

        # An event has no time in an index of the database, and its report has.
        #
        # @return [Array] the condition for changes
        def events(*more, reports: nil)
          recent = ['>', 'producer_timestamp', @since]
          recent = ['and', recent, reports] if reports
          ['and', %w[= status success], ['in', 'report', ['extract', 'hash', ['select_reports', recent]]], *more]
        end
      end
    end
  end
end
