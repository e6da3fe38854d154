# frozen_string_literal: true

require 'simpkv/server/console/nodes/catalog_comparison'
require 'simpkv/server/console/nodes/catalog_view'

module Simpkv
  module Server
    # The catalog and the resources of a node.
    class Console
      # A page shows so many edges of a resource, in each direction.
      NODE_EDGES = 100
      # A resource in a table has so many of its parameters.
      NODE_PARAMETERS = 5
      private_constant :NODE_EDGES, :NODE_PARAMETERS

      private

      def node_catalog_page
        type, title = %w[type title].map { |name| given(name) }
        catalog = CatalogView.new(api, @certname)
        return node_resource_page(catalog, type, title) unless title.empty?

        header = node_catalog_header(catalog)
        locals = header && !missing?(header) ? node_catalog_resources(catalog, type) : {}
        node_view('Catalog', 'node_catalog', header: header, **locals)
      end

      # @return [Hash, Missing, nil] nil if no catalog is stored
      def node_catalog_header(catalog)
        header = subject { catalog.header }
        demand_node if header.nil? || missing?(header)
        response.status = 404 if header.nil?
        header
      end

      def node_catalog_resources(catalog, type)
        text = given('q')
        found = subject(400) { catalog.resources(type, text, *window) }
        { types: catalog.types, type: type, text: text, found: found }
      end

      def node_resource_page(catalog, type, title)
        resource = catalog.resource(type, title) ||
                   raise(Problem.new(404, "the index has no such resource of '#{@certname}'"))
        from, to = catalog.edges(type, title, NODE_EDGES)
        path = given('path')
        node_view('Resource', 'node_resource', resource: resource, from: from, to: to, path: path,
                                               value: FactList.new(resource['parameters'] || {}).at(path))
      end

      # @return [String] the address of a resource of the catalog
      def node_resource(type, title, path = nil)
        url('nodes', @certname, 'catalog', type: type, title: title, path: path)
      end

      def node_resources_page
        return node_collected_page if given('show') == 'collected'

        stored = node_part('exports')
        return node_view('Exports', 'node_exports', missing: stored, list: page_of([])) if missing?(stored)

        rows = stored['exports'].sort.flat_map { |type, list| list.map { |resource| [type, resource] } }
        return node_export_page(rows) unless given('title').empty?

        demand_node if rows.empty?

        node_view('Exports', 'node_exports', missing: nil, list: page_of(rows))
      end

      def node_export_page(rows)
        named = [given('type'), given('title')]
        type, resource = rows.find { |name, each| [name, each['title']] == named }
        raise Problem.new(404, "'#{@certname}' exports no such resource") unless resource

        path = given('path')
        node_view('Exports', 'node_export', type: type, resource: resource, path: path,
                                            value: FactList.new(resource['parameters'] || {}).at(path))
      end

      def node_collected_page
        catalog = CatalogView.new(api, @certname)
        header = node_catalog_header(catalog)
        found = catalog.collected(*window) if header && !missing?(header)
        node_view('Exports', 'node_collected', header: header, found: found,
                                               exporters: found ? catalog.exporters(found.rows) : {})
      end

      def node_catalogs_compared(other)
        [@certname, other].each do |certname|
          next if CatalogView.new(api, certname).header

          raise Problem.new(404, "no catalog of '#{certname}' is stored. The option 'catalogs' of 'estate' says " \
                                 'whether catalogs are')
        end
        comparison = CatalogComparison.new(api, [@certname, other])
        list = page_of(comparison.differences)
        node_view('Compare', 'node_compare_catalogs', other: other, list: list, values: comparison.values(list.rows))
      end

      # @param value [Object] of JSON
      # @return [String] a short form of it
      def node_value(value)
        cut(value.is_a?(String) ? value : Native.generate(value))
      end
    end
  end
end
