# frozen_string_literal: true

require 'simpkv/server/console/nodes/catalog_view'
require 'simpkv/server/console/nodes/fact_list'
require 'simpkv/server/console/nodes/node_page'

module Simpkv
  module Server
    module Console
      class Nodes < Section
        # A page of a node that has something of its stored catalog.
        class StoredCatalogPage < NodePage
          private

          # @return [CatalogView]
          def catalog
            @catalog ||= CatalogView.new(api, @certname)
          end

          # @return [Hash, Missing, nil] nil if no catalog is stored
          def header
            header = subject { catalog.header }
            demand_node if header.nil? || missing?(header)
            response.status = 404 if header.nil?
            header
          end
        end

        # The stored catalog of a node, and its resources.
        class CatalogPage < StoredCatalogPage
          TITLE = 'Catalog'

          private

          def content
            header = header()
            shown = header && !missing?(header) ? resources : {}
            found = shown[:found]
            file = file_of('catalog') { found.rows } if found && !missing?(found)
            file || view(TITLE, 'nodes/catalog', header: header, **shown)
          end

          # @return [Hash{Symbol => Object}] for the template
          def resources
            type, text = %w[type q].map { |name| given(name) }
            order = order_of('type' => %w[type], 'title' => %w[title])
            found = subject(400) { catalog.resources(type, text, *window, order: order) }
            { types: catalog.types, type: type, text: text, found: found }
          end
        end

        # A resource of the stored catalog of a node.
        class ResourcePage < StoredCatalogPage
          TITLE = 'Catalog'
          # Edges of the resource, in each direction.
          EDGES = 100
          private_constant :EDGES

          private

          def content
            type, title, path = %w[type title path].map { |name| given(name) }
            resource = catalog.resource(type, title) ||
                       raise(Problem.new(404, "the index has no such resource of '#{@certname}'"))
            from, to = catalog.edges(type, title, EDGES)
            view('Resource', 'nodes/resource', resource: resource, from: from, to: to, path: path,
                                               value: FactList.new(resource['parameters'] || {}).at(path))
          end
        end

        # The resources of the stored catalog that other nodes export.
        class CollectedPage < StoredCatalogPage
          TITLE = 'Exports'

          private

          def content
            header = header()
            found = catalog.collected(*window) if header && !missing?(header)
            view(TITLE, 'nodes/collected', header: header, found: found,
                                           exporters: found ? catalog.exporters(found.rows) : {})
          end
        end
      end
    end
  end
end
