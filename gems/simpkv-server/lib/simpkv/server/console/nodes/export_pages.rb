# frozen_string_literal: true

require 'simpkv/server/console/nodes/fact_list'
require 'simpkv/server/console/nodes/node_page'

module Simpkv
  module Server
    module Console
      class Nodes < Section
        # The resources that a node exports.
        class ExportsPage < NodePage
          TITLE = 'Exports'

          private

          def content
            rows = rows()
            return view(TITLE, 'nodes/exports', missing: rows, list: page_of([])) if missing?(rows)

            demand_node if rows.empty?
            list = page_of(in_order(rows, { 'type' => lambda(&:first), 'title' => ->(row) { row.last['title'] } }))
            file_of('exports') { list.rows.map { |type, resource| { 'type' => type, **resource } } } ||
              view(TITLE, 'nodes/exports', missing: nil, list: list)
          end

          # @return [Array<Array(String, Hash)>, Missing] types and resources
          def rows
            stored = stored('exports')
            return stored if missing?(stored)

            stored['exports'].sort.flat_map { |type, list| list.map { |resource| [type, resource] } }
          end
        end

        # A resource that a node exports.
        class ExportPage < ExportsPage
          private

          def content
            rows = rows()
            return view(TITLE, 'nodes/exports', missing: rows, list: page_of([])) if missing?(rows)

            named = %w[type title].map { |name| given(name) }
            path = given('path')
            type, resource = rows.find { |name, each| [name, each['title']] == named }
            raise Problem.new(404, "'#{@certname}' exports no such resource") unless resource

            view(TITLE, 'nodes/export', type: type, resource: resource, path: path,
                                        value: FactList.new(resource['parameters'] || {}).at(path))
          end
        end
      end
    end
  end
end
