# frozen_string_literal: true

require 'simpkv/server/console/nodes/node_table'
require 'simpkv/server/console/nodes/fact_list'

module Simpkv
  module Server
    # The table of nodes, and the pages of a node: /nodes. Each tab is a page of its own.
    class Console
      # The tabs of a node: the segment of the path, and the title.
      NODE_TABS = { nil => 'Summary', 'facts' => 'Facts', 'reports' => 'Reports', 'classes' => 'Classes',
                    'resources' => 'Exports', 'catalog' => 'Catalog', 'inspection' => 'Inspection',
                    'compare' => 'Compare' }.freeze
      # The tabs to which pages belong that are none.
      NODE_BELOW = { 'Report' => 'Reports', 'Event' => 'Reports', 'Resource' => 'Catalog' }.freeze
      # Members of a list that has no pages.
      NODE_ROWS = 50
      # The number of environments that a filter suggests.
      NODE_ENVIRONMENTS = 100
      # The most characters of one value on a page of its own.
      NODE_TEXT = 10_000
      private_constant :NODE_TABS, :NODE_BELOW, :NODE_ROWS, :NODE_ENVIRONMENTS, :NODE_TEXT

      hash_branch('', 'nodes') do |r|
        r.is { r.get { nodes_page } }
        r.on(String) do |certname|
          @certname = certname
          r.is { r.get { node_readable('Summary') { node_page } } }
          r.is('reports', String) { |hash| r.get { node_readable('Report') { node_report_page(hash) } } }
          r.is('deactivate') do
            r.get { node_deactivate_page }
            r.post { node_deactivate }
          end
          r.is(NODE_TABS.keys.compact) do |tab|
            r.get { node_tab(tab) }
            r.post { node_readable('Inspection') { node_inspect } } if tab == 'inspection'
          end
        end
      end

      private

      def nodes_page
        at('/nodes')
        removed = removed_node
        wanted = %w[q status environment state sort order].to_h { |name| [name, given(name)] }
        found = found_nodes(NodeTable.new(api, wanted))
        response.status = found.status if missing?(found)
        page('Nodes', 'nodes', wanted: wanted, found: found,
                               columns: missing?(found) ? [] : node_columns(wanted, found.columns),
                               environments: node_environments, removed: removed,
                               filtered: wanted.reject { |name, _| %w[sort order].include?(name) }.values.any?(/./))
      end

      # Without the index, the store has the same nodes.
      #
      # @return [NodeTable::Found, Missing] missing if a value of the filter is wrong
      def found_nodes(table)
        return allowed(part(400) { table.stored(*window, nil) }, 400) if table.never_run?

        found = part(400) { table.indexed(*window) }
        return found unless missing?(found) && found.status != 400

        allowed(part(400) { table.stored(*window, found.message) }, 400)
      end

      # @return [Object, Missing] the part
      # @raise [Problem] it is missing, with another status
      def allowed(part, status)
        return part unless missing?(part) && part.status != status

        raise Problem.new(part.status, part.message, key: part.key)
      end

      # @param names [Array<String>] of the columns
      # @return [Array<Hash>] the headings of the table, with links that sort
      def node_columns(wanted, names)
        sorted = wanted['sort'].empty? ? 'name' : wanted['sort']
        NodeTable::COLUMNS.slice(*names).map do |name, (title, *)|
          descending = wanted['order'] == 'desc' if name == sorted
          order = descending == false ? 'desc' : nil
          { title: title, sort: { nil => 'none', true => 'descending', false => 'ascending' }[descending],
            address: here(sort: name, order: order, offset: nil) }
        end
      end

      def node_environments
        found = part { api.find('environments', nil, order: [%w[name asc]], limit: NODE_ENVIRONMENTS) }
        missing?(found) ? [] : found.rows.map { |row| row['name'] }
      end

      # @return [String, nil] the node that a form has just deactivated
      def removed_node
        certname = given('removed')
        request.GET.delete('removed')
        certname if @notice == 'removed'
      end

      def node_page
        at('/nodes/{certname}')
        node = node_summary
        reports = part(500) { node_reports.first(5) }
        errors = node['errors'].merge(node_report_errors)
        response.status = 500 if errors.any?
        node_view('Summary', 'node', node: node, status: node['status'] || {}, reports: reports, errors: errors,
                                     left: left_something?(node),
                                     deactivate: may?('DELETE', Api.path('v1', 'nodes', @certname)),
                                     inspection: node['inspection'] && Estate::Inspections.kind(node['inspection']))
      end

      # @return [Hash] what the API tells of the node, with the member `errors`
      # @raise [Problem] 404: the store does not know the node
      def node_summary
        @node_summary ||= api.get(Api.path('v1', 'nodes', @certname), 'errors' => 'return')
      end

      # @param node [Hash] of the API
      # @param subject [String] such as `status`: the folder of a document
      # @return [Boolean] whether the document cannot be read
      def unreadable?(node, subject)
        node['errors'].key?("#{Estate::FOLDER}/#{subject}/#{@certname}")
      end

      # @param node [Hash] of the API
      # @return [Boolean] whether a deactivation has something to remove
      def left_something?(node)
        !node['never_run'] || !node['inspection'].nil? || unreadable?(node, 'inspections')
      end

      # @param node [Hash] of the API
      # @return [String, nil] as in the table
      def node_status(node)
        return 'never' if node['never_run']
        return 'unknown' if unreadable?(node, 'status')

        NodeTable.status(*(node['status'] || {}).values_at('status', 'noop'))
      end

      # @param tab [String] of {NODE_TABS}
      def node_tab(tab)
        at("/nodes/{certname}/#{tab}")
        node_readable(NODE_TABS.fetch(tab)) { send("node_#{tab}_page") }
      end

      # @param tab [String] as for {#node_view}
      # @yieldreturn [String] the page
      # @return [String] it, or the page of a document that cannot be read, or of a store that does not answer: with the
      #   tabs, of which others may have something, and with what to do
      def node_readable(tab)
        yield
      rescue Problem, Error, ConfigError => e
        problem = Problem.of(e)
        raise unless problem.status == 503 || (problem.status == 500 && !e.is_a?(ConfigError))

        response.status = problem.status
        node_view(tab, 'node_unreadable', problem: problem)
      end

      # @param problem [#status, #key] why a page or a part of it is missing
      # @return [Boolean] whether the reason is a document of this node, and not one of all nodes, such as a rule
      def of_node?(problem)
        of_node = %r{\A#{Estate::FOLDER}/(?!rules/)(?:[^/]+/){1,2}#{Regexp.escape(@certname)}(?:/[^/]+)?\z}
        problem.status == 500 && problem.key.to_s.match?(of_node)
      end

      # For a tab that has nothing to show: a node that the store does not know has no tabs.
      #
      # @return [void]
      # @raise [Problem] 404
      def demand_node
        part { node_summary }
      end

      # @param tab [String] a title of {NODE_TABS}, or of a page below one
      # @return [String] the page
      def node_view(tab, template, **locals)
        @tab = tab
        page(tab == 'Summary' ? @certname : "#{tab}: #{@certname}", template, **locals)
      end

      # @return [Array<Hash>]
      def node_tabs
        NODE_TABS.map do |segment, title|
          current = title == @tab ? 'page' : ('true' if title == NODE_BELOW[@tab])
          { title: title, address: url(*['nodes', @certname, segment].compact), current: current }
        end
      end

      # Reads a part of the node that it may not have.
      #
      # @return [Object, Missing]
      def node_part(name)
        found = subject(404) { api.get(Api.path('v1', 'nodes', @certname, name)) }
        demand_node if missing?(found)
        found
      end

      def node_facts_page
        stored = node_part('facts')
        return node_view('Facts', 'node_facts_none', missing: stored) if missing?(stored)

        facts = FactList.new(Estate::Facts.joined(stored))
        text, path = %w[q path].map { |name| given(name) }
        return node_fact_list(facts, text) unless text.empty? && given('list').empty?

        node_view('Facts', 'node_facts', text: text, path: path, value: facts.at(path))
      end

      def node_fact_list(facts, text)
        node_view('Facts', 'node_fact_list', text: text, list: page_of(facts.with(text)))
      end

      # @return [String] the address of a part of the facts
      def node_fact(pointer)
        url('nodes', @certname, 'facts', path: pointer)
      end

      def node_classes_page
        node = node_summary
        records = { 'declared' => node['record'], 'effective' => (node['inspection'] || {})['record'] }.compact
        of = given('of')
        response.status = 500 if node['errors'].any?
        if of.empty?
          return node_view('Classes', 'node_classes', node: node, records: records, classes: node_catalog_classes)
        end

        record = records[of] || raise(Problem.new(404, "'#{@certname}' has no such record"))
        node_view('Classes', 'node_record', of: of, path: given('path'), value: FactList.new(record).at(given('path')))
      end

      # @return [Api::Found, Missing] the classes of the catalog; nil rows if none is stored
      def node_catalog_classes
        catalog = CatalogView.new(api, @certname)
        part { catalog.header ? catalog.resources('Class', '', 0, NODE_ROWS) : Api::Found.new([], 0) }
      end

      def node_deactivate_page
        at('/nodes/{certname}/deactivate')
        api.check('DELETE', Api.path('v1', 'nodes', @certname))
        node = node_summary # Documents that cannot be read go as well.
        node_view('Deactivate', left_something?(node) ? 'node_deactivate' : 'node_deactivate_none', node: node)
      end

      def node_deactivate
        at('/nodes/{certname}/deactivate')
        api.request('DELETE', Api.path('v1', 'nodes', @certname))
        go_with_notice(url('nodes', removed: @certname), 'removed')
      end
    end
  end
end

require 'simpkv/server/console/nodes/node_reports'
require 'simpkv/server/console/nodes/node_catalog'
require 'simpkv/server/console/nodes/node_inspection'
