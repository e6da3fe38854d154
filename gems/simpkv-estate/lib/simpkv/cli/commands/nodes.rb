# frozen_string_literal: true

require 'simpkv/cli/estate/estate_command'

module Simpkv
  module Cli
    module Commands
      # Prints a table of the nodes.
      class Nodes < EstateCommand
        SECTION = :nodes
        SUMMARY = 'list the nodes that Puppet has stored, and how their last runs ended'
        ARGUMENTS = ''
        ANYWHERE = true
        DESCRIPTION = <<~TEXT
          Prints a table of the nodes that have left facts, exported resources or reports in the store: the name, the
          environment, the time of the last run in UTC, its status, and the numbers of changes and failures. A node
          without a report has a dash for what only a report tells. A node that has had no run for the time of the
          option node_ttl is marked as expired. For programs (--output), each node also has noop, expired and the
          facts of the option indexed_facts, without secrets.

          A filter is a name, an operator and a value. The name is that of a column or an indexed fact, noop or expired.
          Operators are = and != for the whole text, ~ and !~ for a regular expression, and < and > for numbers and
          times. Each --filter must match. A value that a column never has, such as status=typo, is an error: the status
          is failed, changed or unchanged, or nothing without a report, and noop and expired are true or false. A filter
          cannot name a secret. If filters need more than 5 seconds, the command fails.

          With --fail-if-any, the exit code is 1 if there are nodes in the table, for a monitoring system. It is 65 if
          documents cannot be read: more nodes could match.
        TEXT
        EXAMPLES = {
          'simpkv nodes' => 'All nodes, by name',
          'simpkv nodes --filter status=failed' => 'Nodes whose last run failed',
          "simpkv nodes --filter 'name~^web' --filter os.name=Debian" => 'Web servers on Debian',
          "simpkv nodes --filter 'last_seen<2026-11-20' --sort last_seen" => 'Nodes without a run since that day',
          'simpkv nodes --filter status=failed --fail-if-any' => 'Exits with 1 if the last run failed on a node',
          'simpkv nodes --sort failures --reverse -o json' => 'For a program, most failures first'
        }.freeze

        def run
          list = on_estate { |estate| Estate::NodeList.new(estate) }
          chosen = chosen(list)
          nodes = on_estate { list.nodes(filters: chosen, order: @sort, reverse: @reverse) }
          output.print(nodes) { table(nodes) }
          report(list.errors) || (Failure::NO if @fail && nodes.any?)
        end

        # @return [Array<String>] the beginnings of filters
        def filters
          names = configuration.section('estate')['indexed_facts']
          (Estate::NodeList::MEMBERS + names).map { |name| "#{name}=" }
        end

        private

        def define(parser)
          @filters = []
          @sort = 'name'
          parser.on('--filter FILTER', 'only nodes that match, such as status=failed') { |text| @filters << text }
          parser.on('--sort COLUMN', Estate::NodeList::COLUMNS,
                    'name, environment, last_seen, status, changes or failures') do |by|
            @sort = by
          end
          parser.on('--reverse', 'reverse the order') { @reverse = true }
          parser.on('--fail-if-any', 'exit with 1 if there are such nodes') { @fail = true }
        end

        def chosen(list)
          list.filters(@filters)
        rescue InvalidError => e
          raise Failure.new(e.message, Failure::USAGE), cause: nil
        end

        def table(nodes)
          return [] if nodes.empty?

          Output.table([Estate::NodeList::COLUMNS.map { |name| name.tr('_', ' ') }, *nodes.map { |node| row(node) }])
        end

        def row(node)
          cells = Estate::NodeList::COLUMNS.map { |name| node[name] }
          cells[2] = "#{cells[2]} (expired)" if node['expired']
          cells.map { |cell| cell.nil? ? '-' : cell }
        end
      end
    end
  end
end
