# frozen_string_literal: true

require 'simpkv/server/console/resource_name'

module Simpkv
  module Server
    module Console
      # The table of nodes: from the index, which is fast with thousands of nodes, or else from the store.
      class NodeTable
        # How the last report of a node ended. A run in noop mode that has not failed is `noop`. A declared node
        # that has had no run is `never`.
        STATUSES = %w[failed changed unchanged noop unseen never].freeze
        # Which nodes, as queries name them, and in words. Those that are `overdue` are active.
        STATES = { 'active' => 'active', 'overdue' => 'active, and not seen for a day',
                   'inactive' => 'expired or deactivated', 'any' => 'active, expired and deactivated' }.freeze
        # The columns: the title, the fields of the index, and the name in the API of nodes; nil if this lacks it.
        # A node is seen when it has a run: see {Estate::Statuses.last_seen}.
        COLUMNS = { 'name' => ['Node', %w[certname], 'name'],
                    'status' => ['Status', %w[latest_report_status], 'status'],
                    'environment' => ['Environment', %w[report_environment], 'environment'],
                    'seen' => ['Last seen', %w[last_seen], 'last_seen'],
                    'report' => ['Last report', %w[report_timestamp], nil] }.freeze
        FIELDS = %w[certname latest_report_status latest_report_noop latest_report_noop_pending
                    latest_report_corrective_change report_environment catalog_environment facts_environment
                    report_timestamp last_seen expired deactivated].freeze
        NOT_NOOP = ['or', ['null?', 'latest_report_noop', true], ['=', 'latest_report_noop', false]].freeze
        # The filters of the API of nodes, by state.
        EXPIRED = { '' => 'expired=false', 'active' => 'expired=false', 'overdue' => 'expired=false',
                    'inactive' => 'expired=true', 'any' => nil }.freeze
        # Nodes that have had no run are neither overdue nor expired.
        CONTRADICTIONS = %w[overdue inactive].freeze
        # The name of a node in a message that is the same on each node; and the characters of a message that select.
        NODE = 'NODE'
        MESSAGE = 500
        private_constant :CONTRADICTIONS, :FIELDS, :NOT_NOOP, :EXPIRED

        # - `notes`: more about the status, in words
        # - `seen`: when the node was seen last; nil for never
        # - `report`: the time of its last report; nil for none, and in rows from the store
        Row = Struct.new(:name, :environment, :status, :notes, :seen, :report)
        # - `source`: why the rows come from the store; nil for the index, or for nodes that the index does not have
        # - `columns`: the names in {COLUMNS} of those that are known
        # - `errors`: why documents cannot be read, by their paths. The nodes whose status is among them are not in the
        #   rows
        Found = Struct.new(:rows, :total, :source, :columns, :errors)

        # @param status [String, nil] of a report
        # @param noop [Boolean, nil] whether its run was in noop mode
        # @return [String, nil] one of {STATUSES}
        def self.status(status, noop)
          noop && status != 'failed' ? 'noop' : status
        end

        # @param api [Api]
        # @param wanted [Hash{String => String}] `q` (a regular expression for the name), `status`, `environment`,
        #   `state`, `failed` (a resource that has failed in the last run), `message` (with which it has), `sort` and
        #   `order`; empty for any
        # @raise [Problem] a value is unknown
        def initialize(api, wanted)
          @api = api
          @pattern, @status, @environment, @state, @failed, @message, @sort, @order =
            wanted.values_at('q', 'status', 'environment', 'state', 'failed', 'message', 'sort', 'order').map(&:to_s)
          check('status', @status, STATUSES)
          check('state', @state, STATES.keys)
          check('sort', @sort, COLUMNS.keys)
          check('order', @order, %w[asc desc])
        end

        # @return [Boolean] whether the table is about nodes that the index does not have
        def never_run?
          @status == 'never'
        end

        # @return [Found] from the index
        # @raise [Problem, Error]
        def indexed(offset, limit)
          query = ['extract', FIELDS, *[condition].compact]
          found = @api.find('nodes', query, order: order, limit: limit, offset: offset)
          Found.new(found.rows.map { |row| of_index(row) }, found.total, nil, COLUMNS.keys, {})
        end

        # @param why [String, nil] there is no answer from the index
        # @return [Found] from the store
        # @raise [Problem, Error]
        def stored(offset, limit, why)
          nodes, errors = never_run? && CONTRADICTIONS.include?(@state) ? [[], {}] : stored_nodes
          columns = never_run? ? %w[name status environment] : COLUMNS.select { |_, (*, name)| name }.keys
          Found.new(nodes.drop(offset).first(limit).map { |node| of_store(node) }, nodes.length, why, columns,
                    errors)
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

        # @return [Array(Array<Hash>, Hash{String => String})] nodes, and the documents that cannot be read
        def stored_nodes
          column = COLUMNS.fetch(present(@sort) || 'name').last || 'last_seen'
          query = { 'filter' => filters.join(','), 'sort' => column, 'reverse' => descending?,
                    'never_run' => never_run?, 'errors' => 'return' }
          nodes, errors = @api.get('/v1/nodes', query).values_at('nodes', 'errors')
          nodes = nodes.select { |node| overdue?(node) } if @state == 'overdue'
          [nodes, errors]
        end

        def overdue?(node)
          node['last_seen'].nil? || node['last_seen'] < overdue_since
        end

        def overdue_since
          @overdue_since ||= (Time.now.utc - Status::NodeCounts::OVERDUE_AFTER).iso8601
        end

        def order
          fields = COLUMNS.fetch(present(@sort) || 'name')[1]
          (fields.map { |field| [field, descending? ? 'desc' : 'asc'] } << %w[certname asc]).uniq(&:first)
        end

        def condition
          conditions = [present(@state) && in_state, present(@pattern) && ['~', 'certname', @pattern],
                        present(@environment) && in_environment, present(@status) && with_status,
                        present(@failed) && with_failure].compact
          conditions.length > 1 ? ['and', *conditions] : conditions.first
        end

        def in_state
          return ['=', 'node_state', @state] unless @state == 'overdue'

          ['and', %w[= node_state active], ['or', ['null?', 'last_seen', true], ['<', 'last_seen', overdue_since]]]
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

        def with_failure
          type, title = ResourceName.parts(@failed) ||
                        raise(Problem.new(400, "the parameter 'failed' must be a resource, such as File[/etc/motd]"))
          conditions = [%w[= status failure], ['=', 'resource_type', type], ['=', 'resource_title', title],
                        present(@message) && ['~', 'message', same_message]].compact
          ['in', 'latest_report_hash', ['extract', 'report', ['select_events', ['and', *conditions]]]]
        end

        # @return [String] a regular expression for the message. One that is cut off is the beginning of others
        def same_message
          text = Regexp.escape(@message[0, MESSAGE]).gsub(NODE, '.*')
          "^#{text}#{'$' if @message.length < MESSAGE}"
        end

        def filters
          raise Problem.new(400, 'without the index, nobody can tell where a resource has failed') if present(@failed)

          if @pattern.include?(',')
            raise Problem.new(400, 'without the index, a pattern cannot have a comma: write another pattern')
          end

          [present(@pattern) && "name~#{@pattern}", present(@environment) && "environment=#{@environment}",
           *status_filters, EXPIRED.fetch(@state)].compact
        end

        def status_filters
          case @status
          when '', 'never' then []
          when 'unseen' then ['status=']
          when 'noop' then %w[noop=true status!=failed]
          when 'failed' then ['status=failed']
          else ["status=#{@status}", 'noop!=true']
          end
        end

        def of_index(row)
          certname, status, noop, pending, corrective = row.values_at(*FIELDS.first(5))
          environment = row.values_at('report_environment', 'catalog_environment', 'facts_environment').compact.first
          notes = { 'corrective changes' => corrective, 'would change something' => pending,
                    'expired' => row['expired'], 'deactivated' => row['deactivated'] }
          Row.new(certname, environment, self.class.status(status, noop), notes.select { |_, set| set }.keys,
                  row['last_seen'], row['report_timestamp'])
        end

        def of_store(node)
          status = never_run? ? 'never' : self.class.status(node['status'], node['noop'])
          Row.new(*node.values_at('name', 'environment'), status, node['expired'] ? ['expired'] : [], node['last_seen'])
        end
      end
    end
  end
end
