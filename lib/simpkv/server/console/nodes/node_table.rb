# frozen_string_literal: true

module Simpkv
  module Server
    class Console < Roda
      # The table of nodes: from the index, which is fast with thousands of nodes, or else from the store.
      class NodeTable
        # How the last report of a node ended. A run in noop mode that has not failed is `noop`.
        STATUSES = %w[failed changed unchanged noop unseen].freeze
        # Which nodes, as queries name them, and in words.
        STATES = { 'active' => 'active', 'inactive' => 'expired', 'any' => 'active and expired' }.freeze
        # The columns: the title, and the name in the index and in the API of nodes.
        COLUMNS = { 'name' => %w[Node certname name], 'status' => %w[Status latest_report_status status],
                    'environment' => %w[Environment report_environment environment],
                    'seen' => ['Last run', 'report_timestamp', 'last_seen'] }.freeze
        FIELDS = %w[certname latest_report_status latest_report_noop latest_report_noop_pending
                    latest_report_corrective_change report_environment catalog_environment facts_environment
                    report_timestamp catalog_timestamp facts_timestamp expired].freeze
        NOT_NOOP = ['or', ['null?', 'latest_report_noop', true], ['=', 'latest_report_noop', false]].freeze
        # The filters of the API of nodes, by state.
        EXPIRED = { '' => 'expired=false', 'active' => 'expired=false', 'inactive' => 'expired=true',
                    'any' => nil }.freeze
        private_constant :FIELDS, :NOT_NOOP, :EXPIRED

        # - `notes`: more about the status, in words
        # - `seen`: the time of the last run that is known
        Row = Struct.new(:name, :environment, :status, :notes, :seen)
        # - `source`: why the rows come from the store; nil for the index
        Found = Struct.new(:rows, :total, :source)

        # @param status [String, nil] of a report
        # @param noop [Boolean, nil] whether its run was in noop mode
        # @return [String, nil] one of {STATUSES}
        def self.status(status, noop)
          noop && status != 'failed' ? 'noop' : status
        end

        # @param api [Api]
        # @param wanted [Hash{String => String}] `q` (a regular expression for the name), `status`, `environment`,
        #   `state`, `sort` and `order`; empty for any
        # @raise [Problem] a value is unknown
        def initialize(api, wanted)
          @api = api
          @pattern, @status, @environment, @state, @sort, @order =
            wanted.values_at('q', 'status', 'environment', 'state', 'sort', 'order')
          check('status', @status, STATUSES)
          check('state', @state, STATES.keys)
          check('sort', @sort, COLUMNS.keys)
          check('order', @order, %w[asc desc])
        end

        # @return [Found] from the index
        # @raise [Problem, Error]
        def indexed(offset, limit)
          query = ['extract', FIELDS, *[condition].compact]
          found = @api.find('nodes', query, order: order, limit: limit, offset: offset)
          Found.new(found.rows.map { |row| of_index(row) }, found.total)
        end

        # @param why [String] there is no answer from the index
        # @return [Found] from the store
        # @raise [Problem, Error]
        def stored(offset, limit, why)
          column = COLUMNS.fetch(present(@sort) || 'name').last
          nodes = @api.get('/v1/nodes', 'filter' => filters.join(','), 'sort' => column, 'reverse' => descending?)
          rows = nodes.fetch('nodes').drop(offset).first(limit).map { |node| of_store(node) }
          Found.new(rows, nodes.fetch('nodes').length, why)
        end

        private

        def check(name, value, known)
          return if value.empty? || known.include?(value)

          raise Problem.new(400, "the parameter '#{name}' must be one of #{known.join(', ')}")
        end

        def present(text)
          text unless text.empty?
        end

        def descending?
          @order == 'desc'
        end

        def order
          field = COLUMNS.fetch(present(@sort) || 'name')[1]
          [[field, descending? ? 'desc' : 'asc'], *([%w[certname asc]] unless field == 'certname')]
        end

        def condition
          conditions = [present(@state) && ['=', 'node_state', @state],
                        present(@pattern) && ['~', 'certname', @pattern], present(@environment) && in_environment,
                        present(@status) && with_status].compact
          conditions.length > 1 ? ['and', *conditions] : conditions.first
        end

        # Shown is the environment of the last report; without a report, that of the last catalog.
        def in_environment
          others = %w[catalog_environment facts_environment].map { |field| ['=', field, @environment] }
          ['or', ['=', 'report_environment', @environment],
           ['and', ['null?', 'report_environment', true], ['or', *others]]]
        end

        def with_status
          case @status
          when 'unseen' then ['null?', 'latest_report_status', true]
          when 'noop'
            ['and', ['=', 'latest_report_noop', true], ['not', ['=', 'latest_report_status', 'failed']]]
          when 'failed' then ['=', 'latest_report_status', 'failed']
          else ['and', ['=', 'latest_report_status', @status], NOT_NOOP]
          end
        end

        def filters
          if @pattern.include?(',')
            raise Problem.new(400, 'without the index, a pattern cannot have a comma: write another pattern')
          end

          [present(@pattern) && "name~#{@pattern}", present(@environment) && "environment=#{@environment}",
           *status_filters, EXPIRED.fetch(@state)].compact
        end

        def status_filters
          case @status
          when '' then []
          when 'unseen' then ['status=']
          when 'noop' then %w[noop=true status!=failed]
          when 'failed' then ['status=failed']
          else ["status=#{@status}", 'noop!=true']
          end
        end

        def of_index(row)
          certname, status, noop, pending, corrective = row.values_at(*FIELDS.first(5))
          environment = row.values_at('report_environment', 'catalog_environment', 'facts_environment').compact.first
          seen = row.values_at('report_timestamp', 'catalog_timestamp', 'facts_timestamp').compact.first
          notes = { 'corrective changes' => corrective, 'would change something' => pending,
                    'expired' => row['expired'] }
          Row.new(certname, environment, self.class.status(status, noop), notes.select { |_, set| set }.keys, seen)
        end

        def of_store(node)
          status = self.class.status(node['status'], node['noop'])
          Row.new(*node.values_at('name', 'environment'), status, node['expired'] ? ['expired'] : [], node['last_seen'])
        end
      end
    end
  end
end
